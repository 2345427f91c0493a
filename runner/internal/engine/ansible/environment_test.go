package ansible

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// TestJobEnvironment: what a job sets wins over the operator's environment, also where the engine reads it, but not over
// what a run cannot do without.
func TestJobEnvironment(t *testing.T) {
	t.Parallel()
	eachExecutor(t, func(t *testing.T, b *bench) {
		b.file("inv/hosts", "localhost ansible_connection=local ansible_python_interpreter=/usr/bin/python3\nother\n")
		b.configure = func(cfg *Config) {
			cfg.Environ = func() []string {
				return append(os.Environ(), "COLOUR=red", "SIZE=3", "ANSIBLE_INVENTORY=/nowhere", "ANSIBLE_COLLECTIONS_PATH=/nowhere")
			}
		}
		job := newJob()
		job.Kubeconfig = []byte("{}")
		job.Env = map[string]string{
			"COLOUR": "blue", "ANSIBLE_INVENTORY": b.content + "/inv", "ANSIBLE_COLLECTIONS_PATH": b.content + "/c",
			"TMPDIR": b.content, "KUBECONFIG": "/nowhere", "CHARTBOOK_RUN": "another", "CHARTBOOK_EVENTS_FD": "77", "ANSIBLE_CALLBACK_PLUGINS": "/x",
		}
		facts := b.playFacts(job)
		want := map[string]string{
			"$COLOUR": "blue", "$SIZE": "3", "hosts": "localhost other", "$TMPDIR": b.content, "$CHARTBOOK_RUN": job.ID,
			"$KUBECONFIG":               b.workspace.Dir() + "/runner/" + resourcePath(job.Owner) + "/env/kubeconfig",
			"$ANSIBLE_COLLECTIONS_PATH": b.content + "/c:" + b.workspace.collectionsDir(),
		}
		got := map[string]string{}
		for name := range want {
			got[name] = facts[name]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("what the play sees (-want +got):\n%s", diff)
		}
	})
}

// TestTemporaryDirectory: kubernetes.core and the Kubernetes client keep what they found out about the API server in
// tempfile.gettempdir(). All runs share that, so that it stays warm, and it goes away with the operator (AO 10.3, 10.4).
// Covers UP B2.
func TestTemporaryDirectory(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir() + "/w"
	w := openTestWorkspace(t, dir, 0)
	b.workspace = w
	e := b.play(`
- command: /usr/bin/python3 -c "import tempfile; print(tempfile.gettempdir())"
  register: it
- command: sh -c 'mkdir -p {{ it.stdout }}/closed && echo {{ ansible_operator_meta.name }} >> {{ it.stdout }}/closed/k8srcp-1.json && chmod 500 {{ it.stdout }}/closed'
- set_stats: {data: {where: "{{ it.stdout }}", seen: "{{ lookup('file', it.stdout ~ '/closed/k8srcp-1.json') }}"}}`)
	var seen []string
	for _, name := range []string{"one", "two"} {
		job := newJob()
		job.Owner.Name = name
		job.Inputs = map[string]any{"ansible_operator_meta": map[string]any{"name": name}}
		got := b.run(e, job)
		seen = append(seen, name)
		if got.Outputs["where"] != dir+"/tmp" || got.Outputs["seen"] != strings.Join(seen, "\n") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir + "/tmp"); !os.IsNotExist(err) {
		t.Errorf("the directory is left: %v", err)
	}
}

// TestLoopbackIsReached: a playbook's client must not ask a proxy server for the operator's own endpoint.
func TestLoopbackIsReached(t *testing.T) {
	tests := []struct {
		why       string
		env, want environment
	}{
		{"without a proxy nothing is to be done", environment{"NO_PROXY": "x"}, environment{"NO_PROXY": "x"}},
		{"an empty one is none", environment{"HTTPS_PROXY": ""}, environment{"HTTPS_PROXY": ""}},
		{"a variable is made", environment{"HTTPS_PROXY": "p"}, environment{"HTTPS_PROXY": "p", "NO_PROXY": "127.0.0.1,localhost"}},
		{"the client uses that for http too", environment{"http_proxy": "p"}, environment{"http_proxy": "p", "NO_PROXY": "127.0.0.1,localhost"}},
		{"what is there is kept", environment{"ALL_PROXY": "p", "NO_PROXY": ".svc, localhost"},
			environment{"ALL_PROXY": "p", "NO_PROXY": ".svc, localhost,127.0.0.1"}},
		{"in the spelling that it has, since most clients look at that first", environment{"HTTPS_PROXY": "p", "no_proxy": "a"},
			environment{"HTTPS_PROXY": "p", "no_proxy": "a,127.0.0.1,localhost"}},
		{"in both", environment{"HTTPS_PROXY": "p", "no_proxy": "a", "NO_PROXY": "b"},
			environment{"HTTPS_PROXY": "p", "no_proxy": "a,127.0.0.1,localhost", "NO_PROXY": "b,127.0.0.1,localhost"}},
		{"all hosts are enough", environment{"HTTPS_PROXY": "p", "NO_PROXY": "*"}, environment{"HTTPS_PROXY": "p", "NO_PROXY": "*"}},
	}
	for _, tt := range tests {
		reachLoopback(tt.env)
		if diff := cmp.Diff(tt.want, tt.env); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestLoopbackWithARealClient: a proxy server that does not answer is not asked.
func TestLoopbackWithARealClient(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configure = func(cfg *Config) {
		cfg.Environ = func() []string { return append(os.Environ(), "HTTPS_PROXY=http://192.0.2.1:3128") }
	}
	got := b.run(b.play(`
- command: >-
    /usr/bin/python3 -c "import requests.utils as u; print(u.should_bypass_proxies('https://127.0.0.1:1/', None),
    u.should_bypass_proxies('https://localhost:1/', None), u.should_bypass_proxies('https://example.com/', None))"
  register: it
- set_stats: {data: {bypassed: "{{ it.stdout }}"}}`), newJob())
	if got.Outputs["bypassed"] != "True True False" { //nolint:dupword // two addresses that are bypassed
		t.Errorf("result is %+v", got)
	}
}

// TestBadAnnotations: one that is no number is told once for each resource and value, and does nothing (AO §3.5, §3.6).
func TestBadAnnotations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stub(map[string]string{"ansible-playbook": "echo \"$@\"\n"})
	e := b.play("- debug: {msg: hi}")
	var progress events
	run := func(name, verbosity, artifacts string) string {
		job := newJob()
		job.Owner.Name, job.Progress = name, progress.add
		job.Annotations = map[string]string{annotationVerbosity: verbosity, annotationMaxArtifacts: artifacts}
		b.run(e, job)
		return b.artifact(job, "stdout")
	}
	for range 3 {
		if args := run("one", "lots", "1.5"); !strings.Contains(args, " -vv ") {
			t.Errorf("the arguments are %s", args)
		}
	}
	run("two", "lots", "2")
	run("one", "more", "0x1")
	if args := run("one", "-1", "1"); strings.Contains(args, " -v") {
		t.Errorf("the arguments are %s", args)
	}
	if args := run("one", "99", "1"); !strings.Contains(args, "-vvvv") {
		t.Errorf("the arguments are %s", args)
	}
	var told []string
	for _, event := range progress.all {
		if event.Kind == engine.EventNote && event.Message != "" {
			told = append(told, event.Message)
		}
	}
	want := []string{
		`annotation ansible.sdk.operatorframework.io/verbosity is ignored, since "lots" is not an integer`,
		`annotation ansible.sdk.operatorframework.io/max-runner-artifacts is ignored, since "1.5" is not an integer`,
		`annotation ansible.sdk.operatorframework.io/verbosity is ignored, since "lots" is not an integer`,
		`annotation ansible.sdk.operatorframework.io/verbosity is ignored, since "more" is not an integer`,
		`annotation ansible.sdk.operatorframework.io/max-runner-artifacts is ignored, since "0x1" is not an integer`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
