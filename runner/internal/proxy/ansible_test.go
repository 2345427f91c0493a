package proxy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// playbook uses kubernetes.core as an author does who knows of no proxy.
const playbook = `
- hosts: localhost
  gather_facts: false
  tasks:
    - kubernetes.core.k8s:
        definition:
          apiVersion: v1
          kind: ConfigMap
          metadata: {name: made, namespace: "{{ ns }}"}
          data: {k: "{{ item }}"}
      loop: [one, two, two]
      register: maps
    - kubernetes.core.k8s_info: {kind: ConfigMap, namespace: "{{ ns }}", label_selectors: ["absent"]}
      register: nothing
    - kubernetes.core.k8s_info: {kind: ConfigMap, namespace: "{{ ns }}", name: made}
      register: found
    - kubernetes.core.k8s: {kind: Secret, name: gone, namespace: "{{ ns }}", state: absent}
    - assert:
        that:
          - maps.results | map(attribute='changed') | list == [true, true, false]
          - nothing.resources == []
          - found.resources[0].data.k == 'two'
`

// TestAnsible runs the Kubernetes modules of Ansible against the proxy.
func TestAnsible(t *testing.T) {
	ansible, err := exec.LookPath("ansible-playbook")
	if err != nil {
		t.Fatalf("%v; make setup installs it, with kubernetes.core", err)
	}
	s := newRealStage(t)
	app := s.app(t, "x")
	session := s.open(t, app)
	dir := t.TempDir()
	for name, data := range map[string][]byte{"play.yml": []byte(playbook), "kubeconfig": must(session.Kubeconfig())} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), ansible, "-i", "localhost,", "-c", "local", "-e", "ansible_python_interpreter={{ ansible_playbook_python }}",
		"-e", "ns="+s.namespace, "play.yml")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "ANSIBLE_NOCOLOR=1", "K8S_AUTH_KUBECONFIG="+filepath.Join(dir, "kubeconfig"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ansible-playbook: %v\n%s", err, out)
	}

	var made corev1.ConfigMap
	if err := s.admin.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "made"}, &made); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reference(app), made.OwnerReferences); diff != "" {
		t.Errorf("owner references (-want +got):\n%s", diff)
	}
	report := session.Close()
	t.Logf("%d requests, %d writes", report.Requests, len(report.Writes))
	if n := len(report.Writes); n != 2 || report.Writes[1].ResourceVersion != made.ResourceVersion {
		t.Errorf("writes are %v, want the two states of the ConfigMap", report.Writes)
	}
	if diff := cmp.Diff([]schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}}, report.Kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

// TestKubectl runs kubectl against the proxy.
func TestKubectl(t *testing.T) {
	kubectl := testkit.Kubectl(t)
	s := newRealStage(t)
	session := s.open(t, s.app(t, "x"))
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, must(session.Kubeconfig()), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), kubectl, append([]string{"-n", s.namespace}, args...)...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+file, "HOME="+filepath.Dir(file))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("create", "configmap", "c", "--from-literal=k=v")
	if out := run("get", "configmap", "c"); !strings.Contains(out, "NAME") || !strings.Contains(out, "DATA") {
		t.Errorf("kubectl get prints %q, want the columns of a ConfigMap (C4)", out)
	}
	if out := run("get", "configmap", "c", "-o", "jsonpath={.metadata.ownerReferences[*].name}"); out != "x" {
		t.Errorf("the owner is %q, want x", out)
	}
	run("run", "p", "--image=example.invalid/none")
	run("wait", "--for=condition=Ready", "pod/p", "--timeout=60s")
}
