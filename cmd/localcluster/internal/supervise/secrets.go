package supervise

import (
	"fmt"
	"net"
	"os"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/kube"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/pki"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
)

// masters is the group that RBAC lets do everything.
const masters = "system:masters"

// secrets are all keys and certificates of one cluster.
type secrets struct {
	ca, etcdCA, proxyCA *pki.Authority
	admin               pki.Pair
	files               map[string]pki.Pair // by the name that package plan uses
	users               map[string]pki.Pair // kubeconfigs of components
}

func newSecrets(now time.Time) (*secrets, error) {
	s := &secrets{files: map[string]pki.Pair{}, users: map[string]pki.Pair{}}
	if err := s.authorities(now); err != nil {
		return nil, err
	}
	if err := s.servers(); err != nil {
		return nil, err
	}
	return s, s.clients()
}

func (s *secrets) authorities(now time.Time) error {
	for name, authority := range map[string]**pki.Authority{"ca": &s.ca, "etcd-ca": &s.etcdCA, "proxy-ca": &s.proxyCA} {
		made, err := pki.NewAuthority("localcluster-"+name, now)
		if err != nil {
			return err
		}
		*authority, s.files[name] = made, made.Pair
	}
	return nil
}

func (s *secrets) servers() (err error) {
	ips := []net.IP{net.ParseIP(plan.Host), net.ParseIP(plan.ServiceIP)}
	names := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	if s.files["apiserver"], err = s.ca.Server("kube-apiserver", names, ips); err != nil {
		return err
	}
	if s.files["etcd-server"], err = s.etcdCA.Server("etcd", names[:1], ips[:1]); err != nil {
		return err
	}
	s.files["tokens"], err = pki.SigningKey()
	return err
}

func (s *secrets) clients() (err error) {
	if s.files["etcd-client"], err = s.etcdCA.Client("kube-apiserver"); err != nil {
		return err
	}
	if s.files["proxy-client"], err = s.proxyCA.Client("front-proxy-client"); err != nil {
		return err
	}
	if s.admin, err = s.ca.Client("localcluster-admin", masters); err != nil {
		return err
	}
	for name, user := range map[string]struct {
		name   string
		groups []string
	}{
		// All controllers share one powerful identity: with accounts of their own, the start takes longer.
		plan.ControllerManager: {"system:kube-controller-manager", []string{masters}},
		plan.Scheduler:         {"system:kube-scheduler", nil},
		plan.Kwok:              {"localcluster-kwok", []string{masters}},
	} {
		if s.users[name], err = s.ca.Client(user.name, user.groups...); err != nil {
			return err
		}
	}
	return nil
}

// write puts everything that components read into their folders.
func (s *secrets) write(dir layout.Dir, server string) error {
	for name, pair := range s.files {
		if err := private(dir.Path(plan.Cert(name)), pair.Cert); err != nil {
			return err
		}
		if err := private(dir.Path(plan.Key(name)), pair.Key); err != nil {
			return err
		}
	}
	for name, pair := range s.users {
		if err := private(dir.Path(plan.Config(name)), pki.Kubeconfig(server, s.ca.Cert, pair)); err != nil {
			return err
		}
	}
	return nil
}

// writeAdmin makes the kubeconfig that users get.
func (s *secrets) writeAdmin(dir layout.Dir, server string) error {
	config := pki.Kubeconfig(server, s.ca.Cert, s.admin)
	return layout.WriteFile(dir, layout.Conf+"/admin", layout.Kubeconfig, config)
}

func (s *secrets) client(server string) (*kube.Client, error) {
	return kube.New(server, s.ca.Cert, s.admin.Cert, s.admin.Key)
}

func private(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("cannot write a secret of the cluster: %w", err)
	}
	return nil
}
