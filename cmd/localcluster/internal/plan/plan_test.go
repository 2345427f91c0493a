package plan

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func all() []Component {
	return append(Store(Ports{Etcd: 2379, APIServer: 6443}), Controllers()...)
}

func find(t *testing.T, name string) Component {
	t.Helper()
	for _, c := range all() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no component %s", name)
	return Component{}
}

func TestNamesAreTheComponentsInOrder(t *testing.T) {
	var names []string
	for _, c := range all() {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("Names() = %v, the plan starts %v", Names(), names)
	}
}

func TestName(t *testing.T) {
	for typed, want := range map[string]string{
		"apiserver": APIServer, "kube-apiserver": APIServer, "kube-scheduler": Scheduler, "etcd": Etcd,
		"api-server": "", "": "", "kube-": "",
	} {
		if got, ok := Name(typed); got != want || ok != (want != "") {
			t.Errorf("Name(%q) = %q, %t; want %q", typed, got, ok, want)
		}
	}
}

func TestArguments(t *testing.T) {
	for component, wanted := range map[string][]string{
		Etcd:              {"--port=2379"},
		APIServer:         {"--secure-port=6443", "--etcd-servers=https://127.0.0.1:2379", "--authorization-mode=Node,RBAC", "--bind-address=127.0.0.1"},
		ControllerManager: {"--leader-elect=false", "--secure-port=0", "--kubeconfig=conf/controller-manager.kubeconfig"},
		Scheduler:         {"--leader-elect=false", "--secure-port=0", "--kubeconfig=conf/scheduler.kubeconfig"},
		Kwok:              {"--manage-all-nodes=true", "--config=conf/kwok.yaml"},
	} {
		args := find(t, component).Args
		for _, want := range wanted {
			if !slices.Contains(args, want) {
				t.Errorf("%s lacks %s: %v", component, want, args)
			}
		}
	}
}

func TestEveryPathIsInsideTheDirectory(t *testing.T) {
	for _, c := range all() {
		for _, arg := range append(slices.Clone(c.Args), c.Env...) {
			_, value, _ := strings.Cut(arg, "=")
			if filepath.IsAbs(value) || strings.HasPrefix(value, "..") {
				t.Errorf("%s: %s leads out of the directory of the cluster", c.Name, arg)
			}
		}
	}
}

func TestNothingListensBeyondLoopback(t *testing.T) {
	for _, c := range all() {
		for _, arg := range c.Args {
			name, value, _ := strings.Cut(arg, "=")
			if strings.HasSuffix(name, "address") && value != Host {
				t.Errorf("%s: %s", c.Name, arg)
			}
		}
	}
}

func TestTheCallersEnvironmentStaysOutside(t *testing.T) {
	t.Setenv("KUBECONFIG", "elsewhere")
	t.Setenv("HTTPS_PROXY", "elsewhere")
	for _, c := range all() {
		if slices.ContainsFunc(c.Env, func(v string) bool { return strings.Contains(v, "elsewhere") }) {
			t.Errorf("%s sees %v", c.Name, c.Env)
		}
	}
}

func TestArgumentsAreSorted(t *testing.T) {
	for _, c := range all() {
		if !slices.IsSorted(c.Args) {
			t.Errorf("%s: the order changes from start to start: %v", c.Name, c.Args)
		}
	}
}
