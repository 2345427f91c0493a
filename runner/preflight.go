package runner

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// podNamespace is the file that says in which namespace a pod runs.
const podNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// preflight finds out before anything runs what would end the operator later, while plays run. The options are valid.
func preflight(o Options, playbooks bool) error {
	if o.LeaderElection.Enabled && o.LeaderElection.Namespace == "" {
		if _, err := os.Stat(podNamespace); err != nil {
			return &InvalidError{errors.New("--leader-elect needs --leader-election-namespace where the operator does not run in a pod")}
		}
	}
	used := o.addresses()
	if playbooks && o.Ansible.ProxyPort > 0 {
		used = append(used, boundAddress{"proxy-port", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Ansible.ProxyPort))})
	}
	if o.Ansible.ProxySidecarPort > 0 {
		used = append(used, boundAddress{"proxy-sidecar-port", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Ansible.ProxySidecarPort))})
	}
	return tryAddresses(used)
}

// tryAddresses listens on all addresses for a moment. All at once, so that two flags with the same one are found too.
func tryAddresses(used []boundAddress) error {
	var errs []error
	for _, a := range used {
		listener, err := net.Listen("tcp", a.address)
		if err != nil {
			errs = append(errs, fmt.Errorf("%w; choose another one with --%s", err, a.flag))
			continue
		}
		defer func() { _ = listener.Close() }()
	}
	return errors.Join(errs...)
}
