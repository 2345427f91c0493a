package ansible

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// playFacts runs a play that tells about its surroundings.
func (b *bench) playFacts(job engine.Job) map[string]string {
	b.t.Helper()
	e := b.play(`
- set_stats:
    data:
      env: "{{ lookup('pipe', 'env') }}"
      interpreter: "{{ ansible_python_interpreter | default('') }}"
      connection: "{{ ansible_connection | default('') }}"
      hosts: "{{ groups['all'] | join(' ') }}"
      inventory: "{{ ansible_inventory_sources | join(' ') }}"
      verbosity: "{{ ansible_verbosity }}"
      beside: "{{ beside | default('') }}"
      kubeconfig: "{{ lookup('file', lookup('env', 'KUBECONFIG'), errors='ignore') }}"
      cwd: "{{ lookup('pipe', 'readlink /proc/$PPID/cwd') }}"
      argv: "{{ lookup('pipe', 'tr \\\\0 \" \" </proc/$PPID/cmdline') }}"`)
	got := b.run(e, job)
	if !got.Outcome.OK() {
		b.t.Fatalf("result is %+v", got)
	}
	facts := map[string]string{}
	for key, value := range got.Outputs {
		facts[key] = fmt.Sprint(value)
	}
	for line := range strings.SplitSeq(facts["env"], "\n") {
		name, value, _ := strings.Cut(line, "=")
		facts["$"+name] = value
	}
	return facts
}

func TestContract(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("group_vars/all.yml", "beside: the playbook\n")
	b.configure = func(cfg *Config) {
		cfg.Environ = func() []string {
			return append(os.Environ(), "HTTP_PROXY=http://proxy.example.com", "KUBECONFIG=/of/the/operator")
		}
	}
	job := newJob()
	job.Kubeconfig = []byte("{kind: Config}")
	job.Inputs = map[string]any{"secret": "canary"}
	facts := b.playFacts(job)
	run := b.workspace.Dir() + "/runner/demo.example.com/v1alpha1/Sample/default/one"
	collections := b.workspace.Dir() + "/python/collections"
	home, _ := os.UserHomeDir()
	want := map[string]string{
		"$K8S_AUTH_KUBECONFIG":         run + "/env/kubeconfig",
		"$KUBECONFIG":                  run + "/env/kubeconfig",
		"kubeconfig":                   "{kind: Config}",
		"$HTTP_PROXY":                  "http://proxy.example.com",
		"$ANSIBLE_RETRY_FILES_ENABLED": "False",
		"$ANSIBLE_HOST_KEY_CHECKING":   "False",
		"$ANSIBLE_CACHE_PLUGIN":        "memory",
		"$ANSIBLE_LOCAL_TEMP":          run + "/tmp",
		"$ANSIBLE_REMOTE_TMP":          run + "/tmp",
		"$ANSIBLE_ASYNC_DIR":           "",
		"$ANSIBLE_ROLES_PATH":          "",
		"$ANSIBLE_COLLECTIONS_PATH":    home + "/.ansible/collections:/usr/share/ansible/collections:" + collections,
		"$CHARTBOOK_RUN":               job.ID,
		"$CHARTBOOK_EVENTS_FD":         "", // taken by the plugin
		"connection":                   "local",
		"hosts":                        "localhost",
		"inventory":                    run + "/inventory",
		"verbosity":                    "2",
		"beside":                       "the playbook",
	}
	got := map[string]string{}
	for name := range want {
		got[name] = facts[name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the play sees (-want +got):\n%s", diff)
	}
	if strings.Contains(facts["argv"], "canary") || !strings.Contains(facts["argv"], "--extra-vars=@"+run+"/env/extravars") {
		t.Errorf("the command line is %q", facts["argv"])
	}
}

func TestInventories(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, why string
		inventory string // %s is the content directory
		venv      string
		hosts     string
		beside    string
		says      string // error
	}{
		{name: "file", why: "a file replaces the inventory", inventory: "%s/inv/hosts", hosts: "localhost other", beside: "inventory"},
		{name: "directory", why: "a directory is used with all that is in it", inventory: "%s/inv", hosts: "localhost other", beside: "inventory"},
		{name: "several", why: "Ansible takes a list", inventory: "%s/inv/hosts,%s/more", hosts: "localhost other third", beside: "inventory"},
		{name: "hosts", why: "a list of hosts is no path", inventory: "localhost,", hosts: "localhost"},
		{name: "missing", why: "told before anything is run", inventory: "%s/nowhere", says: "does not exist"},
		{name: "partly missing", why: "told before anything is run", inventory: "%s/inv,%s/nowhere", says: "do not exist"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.file("inv/hosts", "localhost ansible_connection=local ansible_python_interpreter=/usr/bin/python3\nother\n")
			b.file("inv/group_vars/all.yml", "beside: inventory\n")
			b.file("more", "third\n")
			b.configure = func(cfg *Config) {
				cfg.Environ = func() []string {
					return append(os.Environ(), "ANSIBLE_INVENTORY="+strings.ReplaceAll(tt.inventory, "%s", b.content))
				}
			}
			if tt.says != "" {
				e := b.play("- debug:")
				for _, err := range []error{e.Ready(t.Context()), second(e.Run(t.Context(), newJob()))} {
					if err == nil || !strings.Contains(err.Error(), tt.says) {
						t.Errorf("%s: error is %v", tt.why, err)
					}
				}
				return
			}
			facts := b.playFacts(newJob())
			if facts["hosts"] != tt.hosts || facts["beside"] != tt.beside {
				t.Errorf("%s: hosts are %q, group_vars say %q", tt.why, facts["hosts"], facts["beside"])
			}
		})
	}
}

func second(_ engine.Result, err error) error { return err }

func TestLocalInventory(t *testing.T) {
	for venv, want := range map[string]string{
		"":     "localhost ansible_connection=local ansible_python_interpreter={{ansible_playbook_python}}",
		"/opt": "localhost ansible_connection=local ansible_python_interpreter=/opt/bin/python3",
	} {
		if got := localInventory(environment{"VIRTUAL_ENV": venv}); got != want {
			t.Errorf("inventory is %q, want %q", got, want)
		}
	}
}

// Covers AO 10.1 no. 6.
func TestUnreachableHost(t *testing.T) { eachExecutor(t, unreachableHost) }

func unreachableHost(t *testing.T, b *bench) {
	t.Helper()
	b.configure = func(cfg *Config) { cfg.ExtraArgs = "--timeout 3" }
	got := b.run(b.playbook(`
- hosts: localhost
  gather_facts: false
  tasks:
    - add_host: {name: far, ansible_connection: ssh, ansible_host: 127.0.0.1, ansible_port: 1}
      changed_when: false
- hosts: far
  gather_facts: false
  tasks:
    - name: try it
      command: "true"
      ignore_unreachable: "{{ lenient | default(false) }}"
`), newJob())
	checkResult(t, b, got, engine.Result{
		Outcome: engine.Transient, Reason: engine.ReasonUnreachable, Stats: &engine.Stats{OK: 1},
		Failures: []engine.Failure{{Name: "try it", Host: "far", File: "playbook.yml", Line: 10}},
	}, `task "try it" on far (playbook.yml:10): Failed to connect to the host via ssh`, "an unreachable host counts")

	job := newJob()
	job.Inputs = map[string]any{"lenient": true}
	got = b.run(b.engine(Content{Playbook: b.content + "/playbook.yml"}), job)
	checkResult(t, b, got, engine.Result{Outcome: engine.Succeeded, Stats: &engine.Stats{OK: 1}}, "", "unless the task says otherwise")
}

func TestRescueThroughIncludes(t *testing.T) { eachExecutor(t, rescueThroughIncludes) }

func rescueThroughIncludes(t *testing.T, b *bench) {
	t.Helper()
	b.file("include.yml", "- block: [{name: in a file, fail: {msg: a}}]\n  always: [{debug: {msg: b}}]\n")
	b.file("roles/failing/tasks/main.yml", "- {name: in a role, fail: {msg: a}}\n")
	e := b.play(`
- block: [{include_tasks: include.yml}]
  rescue: [{debug: {msg: saved}}]
- block: [{import_tasks: include.yml}]
  rescue: [{debug: {msg: saved}}]
- block: [{include_role: {name: failing}}]
  rescue:
    - block: [{name: in a rescue section, fail: {msg: a}}]
      rescue: [{debug: {msg: saved}}]
`)
	var progress events
	job := newJob()
	job.Progress = progress.add
	if got := b.run(e, job); got.Outcome != engine.Succeeded || len(got.Failures) > 0 {
		t.Errorf("result is %+v", got)
	}
	if got := strings.Join(progress.of(engine.EventFailed), ", "); got != "in a file, in a file, failing : in a role, in a rescue section" {
		t.Errorf("failed tasks are %s", got)
	}
	for _, event := range progress.all {
		if event.Kind == engine.EventFailed && !event.Ignored {
			t.Errorf("not marked as made good: %+v", event)
		}
	}
}

// TestSecretsStayHidden looks for a value that no_log hides in everything that comes out of a run, and for extra
// vars in everything that stays.
// Covers AO 10.5 no. 3, UP B3.
func TestSecretsStayHidden(t *testing.T) { eachExecutor(t, secretsStayHidden) }

func secretsStayHidden(t *testing.T, b *bench) {
	t.Helper()
	const canary, input = "canary-of-no-log", "canary-of-the-spec"
	var heard strings.Builder
	b.configure = func(cfg *Config) {
		cfg.Output = func(engine.Job) io.Writer { return &heard }
		cfg.Environ = func() []string { return append(os.Environ(), "CANARY="+canary) }
	}
	e := b.play(`
- name: read it
  set_fact: {token: "{{ lookup('env', 'CANARY') }}"}
  no_log: true
- name: use it
  command: echo {{ token }} {{ password }}
  no_log: true
- name: use it for {{ ['each'] | first }}
  command: sh -c "echo {{ token }} >&2; exit {{ item }}"
  loop: [0, 1]
  no_log: "{{ true }}"
`)
	var progress events
	job := newJob()
	job.Progress = progress.add
	job.Annotations = map[string]string{annotationVerbosity: "4"}
	job.Inputs = map[string]any{"password": input}
	got := b.run(e, job)
	if got.Outcome != engine.Transient || !strings.Contains(got.Message, hiddenText) {
		t.Errorf("result is %+v", got)
	}
	texts := map[string]string{"stdout": heard.String()}
	for name, value := range map[string]any{"result": got, "events": progress.all} {
		texts[name] = fmt.Sprintf("%+v", value)
	}
	for _, file := range b.files() {
		_, path, _ := strings.Cut(file, " ")
		text, _ := os.ReadFile(filepath.Join(b.workspace.Dir(), path))
		texts[path] = string(text)
	}
	for name, text := range texts {
		if strings.Contains(text, canary) || strings.Contains(text, input) {
			t.Errorf("secret is in %s: %s", name, text)
		}
	}
	b.onlyArtifactsLeft(job)
}

// TestOddInputs gives a play what people put into a spec.
// Covers UP H11.
func TestOddInputs(t *testing.T) { eachExecutor(t, oddInputs) }

func oddInputs(t *testing.T, b *bench) {
	t.Helper()
	e := b.play(`
- assert:
    that:
      - large | length == 500 * 1024
      - greeting == "{" + "{ 1 + 1 }" + "}"
      - nested.list[1].text == "{" + "% raw %" + "}"
      - "'ä' in umlaut"
      - big == 9007199254740993
      - nothing is none`)
	unsafe := func(text string) map[string]any { return map[string]any{"__ansible_unsafe": text} }
	job := newJob()
	job.Owner.Name = strings.Repeat("x", 253)
	job.Owner.Namespace = ""
	job.Inputs = map[string]any{
		"large":    strings.Repeat("x", 500<<10),
		"greeting": unsafe("{{ 1 + 1 }}"),
		"nested":   map[string]any{"list": []any{int64(1), map[string]any{"text": unsafe("{% raw %}")}}},
		"umlaut":   "ä \"quoted\" 'text' \\ $HOME `id` \u2028",
		"big":      int64(9007199254740993),
		"nothing":  nil,
		"with.dot": "x", "with blank": "x", "ünïcode": "x", "": "empty key",
	}
	if got := b.run(e, job); got.Outcome != engine.Succeeded {
		t.Errorf("result is %+v", got)
	}
}
