package runner

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// Validate returns what is wrong with the options, all problems in one error.
func (o *Options) Validate() error {
	var errs []error
	if o.MaxConcurrentRuns < 0 {
		errs = append(errs, fmt.Errorf("--max-concurrent-runs is %d; use 0 for as many as the machine bears, or a positive number", o.MaxConcurrentRuns))
	}
	if !isOff(o.Metrics.UserAddress) && !isLoopback(o.Metrics.UserAddress) {
		errs = append(errs, fmt.Errorf("--user-metrics-bind-address is %q; use 0 for none, or an address of loopback like 127.0.0.1:5050", o.Metrics.UserAddress))
	}
	if o.RunTimeout < 0 {
		errs = append(errs, fmt.Errorf("--run-timeout is %s; use 0 for none or a positive duration", o.RunTimeout))
	}
	for _, namespace := range o.Namespaces {
		if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
			errs = append(errs, fmt.Errorf("WATCH_NAMESPACE: no namespace can be called %q; separate names by commas", namespace))
		}
	}
	errs = append(errs, o.Ansible.problems()...)
	errs = append(errs, o.LeaderElection.problems()...)
	return errors.Join(append(errs, o.addressProblems()...)...)
}

func (o *AnsibleOptions) problems() (errs []error) {
	switch strings.ToLower(o.LogEvents) {
	case "nothing", "tasks", "everything":
	default:
		errs = append(errs, fmt.Errorf("--ansible-log-events is %q; use nothing, tasks or everything", o.LogEvents))
	}
	if o.ProxyPort < 0 || o.ProxyPort > 65535 {
		errs = append(errs, fmt.Errorf("--proxy-port is %d; use 0 for any free port, or 1 to 65535", o.ProxyPort))
	}
	switch watches.Executor(o.Executor) {
	case watches.ExecutorWarm, watches.ExecutorDirect, watches.ExecutorRunner:
	default:
		errs = append(errs, fmt.Errorf("--ansible-executor is %q; use warm, direct or runner", o.Executor))
	}
	if o.ProxySidecarPort < 0 || o.ProxySidecarPort > 65535 {
		errs = append(errs, fmt.Errorf("--proxy-sidecar-port is %d; use 0 for none, or 1 to 65535", o.ProxySidecarPort))
	}
	if o.ArtifactsMaxBytes < 0 {
		errs = append(errs, fmt.Errorf("--artifacts-max-bytes is %d; use 0 to keep none", o.ArtifactsMaxBytes))
	}
	if err := ansible.CheckArgs(o.Args); err != nil {
		errs = append(errs, fmt.Errorf("--ansible-args cannot be split into arguments: %w", err))
	}
	return errs
}

// retryPeriod is how often replicas look at the Lease, and jitter how much longer it may take once.
const (
	retryPeriod = 2 * time.Second
	jitter      = 1.2
)

func (o *LeaderElectionOptions) problems() (errs []error) {
	if !o.Enabled {
		return nil
	}
	switch wrong := validation.IsDNS1123Subdomain(o.ID); {
	case o.ID == "":
		errs = append(errs, errors.New("--leader-elect needs --leader-election-id, the name of the Lease that replicas share"))
	case len(wrong) > 0:
		errs = append(errs, fmt.Errorf("--leader-election-id is %q, which cannot be the name of a Lease: %s", o.ID, wrong[0]))
	}
	if wrong := validation.IsDNS1123Label(o.Namespace); o.Namespace != "" && len(wrong) > 0 {
		errs = append(errs, fmt.Errorf("--leader-election-namespace is %q, and no namespace can be called so", o.Namespace))
	}
	if shortest := time.Duration(jitter * float64(retryPeriod)); o.RenewDeadline <= shortest {
		errs = append(errs, fmt.Errorf("--leader-elect-renew-deadline is %s; use more than %s", o.RenewDeadline, shortest))
	}
	if o.LeaseDuration <= o.RenewDeadline {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration is %s; use more than --leader-elect-renew-deadline, which is %s",
			o.LeaseDuration, o.RenewDeadline))
	}
	return errs
}

// addressProblems tells which addresses nothing could listen on.
func (o *Options) addressProblems() (errs []error) {
	if o.Metrics.RequireRBAC && !o.Metrics.Secure {
		errs = append(errs, errors.New("--metrics-secure flag is required when --metrics-require-rbac is present"))
	}
	for _, a := range o.addresses() {
		host, port, err := net.SplitHostPort(a.address)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil || strings.ContainsAny(host, " /") {
			errs = append(errs, fmt.Errorf("--%s is %q; write it like :8443 or 127.0.0.1:8443, or use 0 to switch it off", a.flag, a.address))
		}
	}
	return errs
}

// boundAddress is an address that the process listens on, and the flag that it comes from.
type boundAddress struct{ flag, address string }

// addresses returns the addresses that are not switched off.
func (o *Options) addresses() []boundAddress {
	var used []boundAddress
	for _, a := range []boundAddress{{"health-probe-bind-address", o.HealthProbeAddress}, {"metrics-bind-address", o.Metrics.Address}} {
		if !isOff(a.address) {
			used = append(used, a)
		}
	}
	return used
}

// maxVerbosity is how many v's ansible-playbook understands.
const maxVerbosity = 7

// endless is longer than any operator lives, and short enough to reckon with.
const endless = 10 * 365 * 24 * time.Hour

// settle replaces values that the old tools took and that mean something else, or nothing, so that old deployments still
// start. It returns a sentence about each.
func (o *Options) settle() (warnings []string) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	if v := o.Ansible.Verbosity; v < 0 || v > maxVerbosity {
		o.Ansible.Verbosity = min(max(v, 0), maxVerbosity)
		warn("--ansible-verbosity is %d and taken for %d; use 0 to %d", v, o.Ansible.Verbosity, maxVerbosity)
	}
	if n := o.MaxConcurrentReconciles; n < 1 {
		o.MaxConcurrentReconciles = 1
		warn("--max-concurrent-reconciles is %d and taken for 1", n)
	}
	if period := o.ReconcilePeriod; period != nil && *period < 0 {
		o.ReconcilePeriod = new(time.Duration)
		warn("--reconcile-period is %s and taken for 0: there are no periodic runs", *period)
	}
	if limit := o.GracefulShutdownTimeout; limit < 0 {
		o.GracefulShutdownTimeout = endless
		warn("--graceful-shutdown-timeout is %s: runs may go on for as long as they need", limit)
	}
	return warnings
}
