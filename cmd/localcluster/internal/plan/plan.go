// Package plan says how each component of a cluster is started: its arguments, its environment, its place in the
// order. It touches nothing, so that the whole plan can be read and tested at once.
package plan

import (
	"net"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
)

// The names of the components, as users type them.
const (
	Etcd              = "etcd"
	APIServer         = "apiserver"
	ControllerManager = "controller-manager"
	Scheduler         = "scheduler"
	Kwok              = "kwok"
)

// Host is the only address that anything here listens on.
const Host = "127.0.0.1"

// Component is one child process to start. The arguments use paths relative to the directory of the cluster.
type Component struct {
	Name string
	Args []string
	Env  []string
}

// Ports are the ports that components listen on. Those not named here have no listener at all.
type Ports struct {
	Etcd, APIServer int
}

// Map is the form of the ports in the state file.
func (p Ports) Map() map[string]int {
	return map[string]int{Etcd: p.Etcd, APIServer: p.APIServer}
}

// Server is the URL of the API server.
func (p Ports) Server() string {
	return "https://" + net.JoinHostPort(Host, strconv.Itoa(p.APIServer))
}

// Store are the components that everything else needs: they start first, together.
func Store(p Ports) []Component {
	return []Component{
		{Name: Etcd, Args: etcd(p), Env: environment()},
		{Name: APIServer, Args: apiServer(p), Env: environment()},
	}
}

// Controllers are the components that work through the API server.
func Controllers() []Component {
	return []Component{
		{Name: ControllerManager, Args: controllerManager(), Env: environment()},
		{Name: Scheduler, Args: scheduler(), Env: environment()},
		{Name: Kwok, Args: kwok(), Env: environment()},
	}
}

// Names lists all components in the order of their start.
func Names() []string {
	return []string{Etcd, APIServer, ControllerManager, Scheduler, Kwok}
}

// Name finds the component that a user means; the names of the Kubernetes binaries are understood too.
func Name(typed string) (string, bool) {
	for _, name := range Names() {
		if typed == name || typed == "kube-"+name {
			return name, true
		}
	}
	return "", false
}

// Config is a kubeconfig for a component.
func Config(name string) string {
	return filepath.Join(layout.Conf, name+".kubeconfig")
}

// Cert and Key are the files of one certificate.
func Cert(name string) string { return filepath.Join(layout.PKI, name+".crt") }

// Key is the private key that belongs to Cert.
func Key(name string) string { return filepath.Join(layout.PKI, name+".key") }

// environment is all that a component sees of the caller's: nothing. A proxy setting, a KUBECONFIG or a feature gate
// from outside would make one developer's cluster differ from another's.
func environment() []string {
	return []string{"HOME=.", "TMPDIR=" + layout.Tmp, "TZ=UTC"}
}

// flags joins names and values in a stable order, for readable command lines.
func flags(values map[string]string) []string {
	args := make([]string, 0, len(values))
	for name, value := range values {
		args = append(args, "--"+name+"="+value)
	}
	slices.Sort(args)
	return args
}
