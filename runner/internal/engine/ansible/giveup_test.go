package ansible

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// inRunner are the cases that are tried with each executor: one for each moment at which ansible-playbook can give up.
var inRunner = []string{"YAML", "include", "role", "options"}

// TestGivingUp runs plays that ansible-playbook gives up without a failed task to show for it.
// Covers AO 10.1 no. 7.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	const head = "- hosts: localhost\n  gather_facts: false\n"
	tests := []struct {
		name, why string
		playbook  string
		args      string
		files     map[string]string
		outcome   engine.Outcome
		reason    string
		file      string // of the failure, relative to the content directory
		line      int
		says      string
	}{
		{
			name: "YAML", why: "the parser's place and words, without Ansible's introduction",
			playbook: head + "  tasks:\n    - debug: msg=a\n     - debug: msg=b\n",
			outcome:  engine.Permanent, reason: engine.ReasonSyntaxError, file: "playbook.yml", line: 4,
			says: "playbook.yml:4: YAML syntax: did not find expected '-' indicator",
		},
		{
			name: "tab", why: "the most common YAML mistake",
			playbook: "- hosts: localhost\n\tgather_facts: false\n",
			outcome:  engine.Permanent, reason: engine.ReasonSyntaxError, file: "playbook.yml", line: 2,
			says: "playbook.yml:2: YAML syntax: found a tab character that violates indentation",
		},
		{
			name: "no module", why: "found when the play is loaded",
			playbook: head + "  tasks:\n    - no_such_module: {}\n",
			outcome:  engine.Permanent, reason: engine.ReasonSyntaxError, file: "playbook.yml", line: 4,
			says: "playbook.yml:4: couldn't resolve module/action 'no_such_module'",
		},
		{
			name: "unknown key", why: "found when the play is loaded",
			playbook: head + "  taskz: []\n",
			outcome:  engine.Permanent, reason: engine.ReasonSyntaxError, file: "playbook.yml", line: 1,
			says: "playbook.yml:1: 'taskz' is not a valid attribute for a Play",
		},
		{
			name: "empty", why: "there is no line to point at",
			playbook: "",
			outcome:  engine.Permanent, reason: engine.ReasonSyntaxError,
			says: "Empty playbook, nothing to do",
		},
		{
			name: "include", why: "a file that is included while the play runs ends all of it, with no failed task",
			playbook: head + "  tasks:\n    - debug: {msg: a}\n    - include_tasks: more.yml\n",
			files:    map[string]string{"more.yml": "- debug: {msg: a}\n- debug: {msg: a}\n  fail: {msg: b}\n"},
			outcome:  engine.Permanent, reason: engine.ReasonSyntaxError, file: "more.yml", line: 2,
			says: "more.yml:2: conflicting action statements: debug, fail",
		},
		{
			name: "role", why: "a missing role stays missing until the image changes",
			playbook: head + "  roles: [nowhere]\n",
			outcome:  engine.Permanent, reason: engine.ReasonPlaybookError, file: "playbook.yml", line: 3,
			says: "playbook.yml:3: the role 'nowhere' was not found",
		},
		{
			name: "import", why: "so does a missing file",
			playbook: head + "  tasks:\n    - import_tasks: nowhere.yml\n",
			outcome:  engine.Permanent, reason: engine.ReasonPlaybookError,
			says: "nowhere.yml",
		},
		{
			name: "options", why: "a wrong argument is told without the page of usage",
			playbook: head, args: "--no-such-option",
			outcome: engine.Permanent, reason: engine.ReasonPlaybookError,
			says: "ansible-playbook refuses its arguments: unrecognized arguments: --no-such-option",
		},
		{
			name: "no vault password", why: "it may be mounted later",
			playbook: head + "  vars_files: [secret.yml]\n  tasks: [{debug: {msg: '{{ x }}'}}]\n",
			files:    map[string]string{"secret.yml": "$ANSIBLE_VAULT;1.1;AES256\n" + strings.Repeat("61", 40) + "\n"},
			outcome:  engine.Transient, reason: engine.ReasonPlaybookError,
			says: "Attempting to decrypt but no vault secrets found",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			test := func(t *testing.T, b *bench) {
				b.configure = func(cfg *Config) { cfg.ExtraArgs = tt.args }
				for name, text := range tt.files {
					b.file(name, text)
				}
				got := b.run(b.playbook(tt.playbook), newJob())
				if got.Outcome != tt.outcome || got.Reason != tt.reason {
					t.Errorf("%s: outcome %s, reason %s, want %s, %s", tt.why, got.Outcome, got.Reason, tt.outcome, tt.reason)
				}
				if !strings.Contains(got.Message, tt.says) || strings.Contains(got.Message, "\n") {
					t.Errorf("%s: message is\n%s\nwant one line with\n%s", tt.why, got.Message, tt.says)
				}
				if len(got.Failures) != 1 {
					t.Fatalf("%s: failures are %+v", tt.why, got.Failures)
				}
				file := strings.TrimPrefix(got.Failures[0].File, b.content+"/")
				if diff := cmp.Diff([]any{tt.file, tt.line}, []any{file, got.Failures[0].Line}); diff != "" {
					t.Errorf("%s: place (-want +got):\n%s", tt.why, diff)
				}
			}
			if slices.Contains(inRunner, tt.name) {
				eachExecutor(t, test)
				return
			}
			t.Parallel()
			test(t, newBench(t))
		})
	}
}

func TestMissingContent(t *testing.T) {
	b := newBench(t)
	for _, content := range []Content{{Playbook: b.content + "/nowhere.yml"}, {Role: b.content + "/nowhere"}, {Playbook: b.content}} {
		e := b.engine(content)
		got := b.run(e, newJob())
		if got.Outcome != engine.Permanent || !strings.Contains(got.Message, content.path()) || got.Processes != 0 {
			t.Errorf("%+v: %+v", content, got)
		}
		if err := e.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), content.path()) {
			t.Errorf("%+v: ready says %v", content, err)
		}
	}
}

func TestMissingAnsible(t *testing.T) {
	b := newBench(t)
	b.configure = func(cfg *Config) {
		cfg.LookPath = func(name string) (string, error) { return "", &missingError{name} }
	}
	e := b.play("- debug:")
	if err := e.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "install ansible-core") {
		t.Errorf("ready says %v", err)
	}
	if _, err := e.Run(t.Context(), newJob()); err == nil || !strings.Contains(err.Error(), "install ansible-core") {
		t.Errorf("run says %v", err)
	}
	if left := b.files(); len(left) != 5 {
		t.Errorf("left behind: %v", left)
	}
}

type missingError struct{ name string }

func (e *missingError) Error() string { return e.name + ": not found" }

func TestReadyAsksOnce(t *testing.T) {
	b := newBench(t)
	asked := 0
	b.configure = func(cfg *Config) { cfg.Runner = countingRunner{&asked} }
	for range 3 {
		e := b.play("- debug:") // each a new engine
		if err := e.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		version, err := e.Version(t.Context())
		if err != nil || !strings.HasPrefix(version, "2.") {
			t.Errorf("version is %q, error %v", version, err)
		}
	}
	if asked != 1 {
		t.Errorf("the version was asked for %d times", asked)
	}
}
