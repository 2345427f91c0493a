package ansible

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func TestContentRole(t *testing.T) {
	tests := []struct {
		why                    string
		content                Content
		name, roles, collected string
	}{
		{"a plain role is found in its parent", Content{Role: "/opt/roles/db", RoleName: "db"}, "db", "/opt/roles", ""},
		{"a slash at the end is no part of the name", Content{Role: "/opt/roles/db/", RoleName: "db"}, "db", "/opt/roles", ""},
		{"a role of a collection keeps its full name",
			Content{Role: "/c/ansible_collections/my/app/roles/db", RoleName: "my.app.db"}, "my.app.db", "", "/c"},
		{"the name alone makes no collection", Content{Role: "/opt/roles/my.app.db", RoleName: "my.app.db"}, "my.app.db", "/opt/roles", ""},
		{"nor does the path", Content{Role: "/c/ansible_collections/my/app/roles/db", RoleName: "db"}, "db",
			"/c/ansible_collections/my/app/roles", ""},
	}
	for _, tt := range tests {
		name, roles, collected := tt.content.role()
		if name != tt.name || roles != tt.roles || collected != tt.collected {
			t.Errorf("%s: %q, %q, %q", tt.why, name, roles, collected)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	workspace := &Workspace{}
	tests := []struct {
		why string
		cfg Config
	}{
		{"no workspace", Config{Main: Content{Playbook: "/p.yml"}}},
		{"no content", Config{Workspace: workspace}},
		{"a relative path", Config{Workspace: workspace, Main: Content{Playbook: "p.yml"}}},
		{"a finalizer with a relative path", Config{Workspace: workspace, Main: Content{Playbook: "/p.yml"}, Finalizer: Content{Role: "r"}}},
		{"arguments that cannot be split", Config{Workspace: workspace, Main: Content{Playbook: "/p.yml"}, ExtraArgs: `--tags "a`}},
	}
	for _, tt := range tests {
		if _, err := New(tt.cfg); err == nil {
			t.Errorf("%s: no error", tt.why)
		}
	}
}

// TestRoles runs real roles.
func TestRoles(t *testing.T) {
	t.Parallel()
	const (
		tell     = "- set_stats: {data: {role: '{{ ansible_role_name }}', answer: '{{ answer | default(\"none\") }}'}}\n"
		explicit = "ANSIBLE_GATHERING=explicit"
	)
	tests := []struct {
		name, why string
		files     map[string]string
		links     map[string]string
		role      string // path below the content directory
		roleName  string
		env       []string // %s is the content directory
		answer    string
		called    string
	}{
		{
			name: "plain", why: "defaults and tasks of the role are used",
			files: map[string]string{"roles/app/tasks/main.yml": tell, "roles/app/defaults/main.yml": "answer: 42\n"},
			role:  "roles/app/", roleName: "app", env: []string{explicit}, called: "app", answer: "42",
		},
		{
			name: "link", why: "a role that is a symbolic link failed every run of the old operator",
			files: map[string]string{"elsewhere/tasks/main.yml": tell},
			links: map[string]string{"roles/app": "../elsewhere"},
			role:  "roles/app", roleName: "app", env: []string{explicit}, called: "app", answer: "none",
		},
		{
			name: "dependencies", why: "they may lie beside the role or on the user's own path",
			files: map[string]string{
				"roles/app/tasks/main.yml": tell, "roles/app/meta/main.yml": "dependencies: [beside, far]\n",
				"roles/beside/tasks/main.yml": "- set_fact: {answer: beside}\n",
				"other/far/tasks/main.yml":    "- set_fact: {answer: '{{ answer }} and far'}\n",
			},
			role: "roles/app", roleName: "app", env: []string{explicit, "ANSIBLE_ROLES_PATH=%s/other"}, called: "app", answer: "beside and far",
		},
		{
			name: "collection", why: "a role of a collection sees its collection's modules without naming it",
			files: map[string]string{
				"c/ansible_collections/my/app/roles/db/tasks/main.yml": "- answer: {}\n" + tell,
				"c/ansible_collections/my/app/plugins/action/answer.py": "from ansible.plugins.action import ActionBase\n" +
					"class ActionModule(ActionBase):\n    def run(self, tmp=None, task_vars=None):\n" +
					"        return {'ansible_facts': {'answer': 'from the collection'}}\n",
			},
			role: "c/ansible_collections/my/app/roles/db", roleName: "my.app.db", env: []string{explicit},
			called: "my.app.db", answer: "from the collection",
		},
		{
			name: "facts", why: "facts are gathered unless the environment says otherwise",
			files: map[string]string{
				"roles/app/tasks/main.yml":    tell,
				"roles/app/defaults/main.yml": "answer: \"{{ 'gathered' if ansible_facts.system is defined else 'not gathered' }}\"\n",
			},
			role: "roles/app", roleName: "app", called: "app", answer: "gathered",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for name, text := range tt.files {
				b.file(name, text)
			}
			for name, target := range tt.links {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(b.content, name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(target, filepath.Join(b.content, name)); err != nil {
					t.Fatal(err)
				}
			}
			b.configure = func(cfg *Config) {
				cfg.Environ = func() []string {
					return append(os.Environ(), strings.Split(strings.ReplaceAll(strings.Join(tt.env, "\n"), "%s", b.content), "\n")...)
				}
			}
			got := b.run(b.engine(Content{Role: b.content + "/" + tt.role, RoleName: tt.roleName}), newJob())
			if !got.Outcome.OK() || got.Outputs["role"] != tt.called || got.Outputs["answer"] != tt.answer {
				t.Errorf("%s: %+v", tt.why, got)
			}
		})
	}
}

func TestFinalizerContent(t *testing.T) { eachExecutor(t, finalizerContent) }

func finalizerContent(t *testing.T, b *bench) {
	t.Helper()
	main := Content{Playbook: b.file("main.yml", "- {hosts: localhost, gather_facts: false, tasks: [{set_stats: {data: {ran: main}}}]}")}
	last := Content{Playbook: b.file("last.yml", "- {hosts: localhost, gather_facts: false, tasks: [{set_stats: {data: {ran: last}}}]}")}
	tests := []struct {
		why       string
		finalizer Content
		mode      engine.Mode
		want      string
	}{
		{"a finalizer runs in place of the content", last, engine.Finalize, "last"},
		{"but not otherwise", last, engine.Reconcile, "main"},
		{"without one the content runs", Content{}, engine.Finalize, "main"},
	}
	for _, tt := range tests {
		b.configure = func(cfg *Config) { cfg.Finalizer = tt.finalizer }
		job := newJob()
		job.Mode = tt.mode
		if got := b.run(b.engine(main), job); got.Outputs["ran"] != tt.want {
			t.Errorf("%s: %+v", tt.why, got)
		}
	}
}

// TestNeighbours: what the user has set up beside the engine's plugins goes on working.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	const callback = `
from ansible.plugins.callback import CallbackBase
class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'neighbour'
    CALLBACK_NEEDS_ENABLED = True
    CALLBACK_NEEDS_WHITELIST = True
    def v2_playbook_on_stats(self, stats):
        self._display.display('the neighbour was here')
`
	const requeue = "from ansible.plugins.action import ActionBase\nclass ActionModule(ActionBase):\n" +
		"    def run(self, tmp=None, task_vars=None):\n        return {'period': '7s'}\n"
	tests := []struct {
		name, why string
		cfg       string
		env       []string // %s is the content directory
	}{
		{name: "file", why: "lists of ansible.cfg are kept, with paths relative to it",
			cfg: "[defaults]\ncallback_plugins = plugins ; mine\ncallbacks_enabled=neighbour\ncollections_path: c\n",
			env: []string{"ANSIBLE_CONFIG=%s/ansible.cfg"}},
		{name: "environment", why: "lists of the environment are kept",
			env: []string{"ANSIBLE_CALLBACK_PLUGINS=%s/plugins", "ANSIBLE_CALLBACKS_ENABLED=neighbour", "ANSIBLE_COLLECTIONS_PATH=%s/c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.file("ansible.cfg", tt.cfg)
			b.file("plugins/neighbour.py", callback)
			b.file("c/ansible_collections/operator_sdk/util/plugins/action/requeue_after.py", requeue)
			b.configure = func(cfg *Config) {
				cfg.Environ = func() []string {
					return append(os.Environ(), strings.Split(strings.ReplaceAll(strings.Join(tt.env, "\n"), "%s", b.content), "\n")...)
				}
			}
			job := newJob()
			got := b.run(b.play("- operator_sdk.util.requeue_after: {time: 1m}"), job)
			if got.Stats == nil || got.RetryAfter.Seconds() != 7 {
				t.Errorf("%s: the user's collection or our events are missing: %+v", tt.why, got)
			}
			if !strings.Contains(b.artifact(job, "stdout"), "the neighbour was here") {
				t.Errorf("%s: the user's callback did not run", tt.why)
			}
		})
	}
}
