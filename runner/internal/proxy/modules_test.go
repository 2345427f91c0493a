package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// modules uses each module of kubernetes.core that operators use.
const modules = `
- hosts: localhost
  gather_facts: false
  tasks:
    - name: apply on the server's side
      kubernetes.core.k8s:
        apply: true
        server_side_apply: {field_manager: play}
        definition: &applied
          apiVersion: v1
          kind: ConfigMap
          metadata: {name: applied, namespace: "{{ ns }}"}
          data: {k: one}
    - kubernetes.core.k8s: {definition: *applied}
      register: again
    - name: replace
      kubernetes.core.k8s:
        force: true
        definition:
          apiVersion: v1
          kind: ConfigMap
          metadata: {name: replaced, namespace: "{{ ns }}"}
          data: {k: "{{ item }}"}
      loop: [one, two]
    - kubernetes.core.k8s_json_patch:
        kind: ConfigMap
        namespace: "{{ ns }}"
        name: applied
        patch: [{op: add, path: /data/patched, value: "yes"}]
    - kubernetes.core.k8s:
        wait: true
        wait_timeout: 60
        definition:
          apiVersion: apps/v1
          kind: Deployment
          metadata: {name: d, namespace: "{{ ns }}"}
          spec:
            replicas: 1
            selector: {matchLabels: {app: d}}
            template:
              metadata: {labels: {app: d}}
              spec: {containers: [{name: c, image: example.invalid/none}]}
    - kubernetes.core.k8s_scale: {kind: Deployment, namespace: "{{ ns }}", name: d, replicas: 2, wait_timeout: 60}
    - kubernetes.core.k8s_info: {kind: Pod, namespace: "{{ ns }}", label_selectors: ["app in (d,e)"]}
      register: pods
    - kubernetes.core.k8s_exec: {namespace: "{{ ns }}", pod: p, container: c, command: echo said}
      register: said
    - kubernetes.core.k8s_log: {namespace: "{{ ns }}", name: p}
      register: log
    - kubernetes.core.k8s_drain:
        name: "kubelet-{{ ns }}"
        state: drain
        delete_options: {force: true, terminate_grace_period: 0}
    - kubernetes.core.k8s_info: {kind: Pod, namespace: "{{ ns }}", name: p}
      register: drained
    - name: a kind of this run
      kubernetes.core.k8s: {src: "{{ playbook_dir }}/crd.json", wait: true, wait_timeout: 60, wait_condition: {type: Established, status: "True"}}
    - kubernetes.core.k8s:
        definition: {apiVersion: "{{ group }}/v1", kind: Widget, metadata: {name: w, namespace: "{{ ns }}"}}
      register: widget
      until: widget is succeeded
      retries: 5
      delay: 1
    - kubernetes.core.helm:
        binary_path: "{{ helm }}"
        name: r
        release_namespace: "{{ ns }}"
        chart_ref: "{{ playbook_dir }}/chart"
        release_values: {k: "{{ item }}"}
      loop: [one, two, two]
      register: releases
    - kubernetes.core.helm_info: {binary_path: "{{ helm }}", name: r, release_namespace: "{{ ns }}"}
      register: release
    - assert:
        that:
          - again is not changed
          - pods.resources | length == 2
          - said.stdout == "said\n"
          - log.log_lines | select | list == ['one', 'two']
          - drained.resources == []
          - releases.results | map(attribute='changed') | list == [true, true, false]
          - release.status.revision | int == 2
`

// TestModules runs a playbook that uses each module of kubernetes.core that operators use, at a port of the user's
// choice (AO 10.1 no. 1: with the old tool every task failed then), on a cluster with an APIService whose server is down
// (AO 10.1 no. 12: with the old tool nothing of a new kind could be made then).
// Covers AO 9.3 SubresourcesTest, UP C10.
func TestModules(t *testing.T) {
	ansible, err := exec.LookPath("ansible-playbook")
	if err != nil {
		t.Fatalf("%v; make setup installs it, with kubernetes.core", err)
	}
	cluster := testkit.NewPrivate(t)
	breakAPI(t, testkit.Client(t, cluster.Config(t)))
	port := freePort(t)
	s := newStageAt(t, cluster.Config(t), func(c *proxy.Config) {
		c.Port, c.Kinds = port, metadata.NewForConfigOrDie(c.RESTConfig)
	})
	k := &kubelet{lines: make(chan string, 2)}
	k.lines <- "one"
	k.lines <- "two"
	close(k.lines)
	newKubeletPod(t, s, k)
	app := s.app(t, "x")
	group := s.namespace + ".example.com"
	definition := testkit.CRD(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Widget"})
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	session := s.open(t, app)
	on := newTools(t, session)
	on.write(t, "crd.json", string(must(json.Marshal(definition))))
	on.write(t, "play.yml", modules)
	on.writeChart(t)
	if want := fmt.Sprint("https://127.0.0.1:", port); s.URL() != want {
		t.Errorf("the proxy listens at %s, want %s", s.URL(), want)
	}
	out := on.run(t, ansible, "-i", "localhost,", "-c", "local", "-e", "ansible_python_interpreter={{ ansible_playbook_python }}",
		"-e", "ns="+s.namespace, "-e", "group="+group, "-e", "helm="+testkit.Helm(t), "play.yml")
	for _, made := range []struct {
		obj  client.Object
		name string
	}{
		{&corev1.ConfigMap{}, "applied"}, {&corev1.ConfigMap{}, "replaced"}, {&corev1.ConfigMap{}, "r"},
		{testkit.Object(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Widget"}, "", "", nil), "w"},
	} {
		if err := s.admin.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: made.name}, made.obj); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(reference(app), made.obj.GetOwnerReferences()); diff != "" {
			t.Errorf("owner references of %s (-want +got):\n%s", made.name, diff)
		}
	}
	report := session.Close()
	t.Logf("%d requests, %d answers from memory, %d writes; kinds %v", report.Requests, report.Remembered, len(report.Writes), report.Kinds)
	if report.Remembered == 0 {
		t.Errorf("nothing was answered from memory:\n%s", out)
	}
}

// breakAPI registers an API whose server does not exist.
func breakAPI(t *testing.T, admin client.Client) {
	t.Helper()
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": "v1.broken.example.com"},
		"spec": map[string]any{
			"group": "broken.example.com", "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100), "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": "default", "name": "none"},
		},
	}}
	if err := admin.Create(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Delete(context.Background(), service) })
}

// TestKubectlStreams uses kubectl for what it does in a way of its own.
// Covers UP C6.
func TestKubectlStreams(t *testing.T) {
	kubectl := testkit.Kubectl(t)
	s := newRealStage(t)
	k := &kubelet{lines: make(chan string, 1), dir: t.TempDir()}
	k.lines <- "one"
	close(k.lines)
	pod := newKubeletPod(t, s, k)
	s.running(t, pod)
	session := s.open(t, s.app(t, "x"))
	on := newTools(t, session)
	run := func(args ...string) string {
		t.Helper()
		return on.run(t, kubectl, append([]string{"-n", s.namespace}, args...)...)
	}
	sent := on.write(t, "sent", "content")
	run("cp", sent, "p:"+filepath.Join(k.dir, "there"))
	run("cp", "p:there", filepath.Join(on.dir, "back"))
	if got := run("exec", "p", "--", "cat", "there"); got != "content" {
		t.Errorf("exec prints %q, want what was copied", got)
	}
	if got := on.run(t, "cat", "back"); got != "content" {
		t.Errorf("what was copied back is %q", got)
	}
	if got := run("logs", "-f", "p"); got != "one\n" {
		t.Errorf("logs prints %q", got)
	}
	run("create", "deployment", "d", "--image=example.invalid/none")
	run("rollout", "status", "deployment/d", "--timeout=60s")
	run("wait", "--for=jsonpath={.status.readyReplicas}=1", "deployment/d", "--timeout=60s")
	on.write(t, "map.yaml", string(applied(s.namespace, "c", "")))
	run("apply", "--server-side", "-f", "map.yaml")
	run("apply", "--server-side", "-f", "map.yaml")
	run("replace", "-f", "map.yaml")
	run("apply", "-f", "map.yaml")
	run("replace", "--force", "-f", "map.yaml")
	if got := run("get", "configmap", "c", "-o", "jsonpath={.metadata.ownerReferences[*].name}"); got != "x" {
		t.Errorf("the owners are %q, want x, once", got)
	}
	report := session.Close()
	t.Logf("%d requests, %d answers from memory", report.Requests, report.Remembered)
}
