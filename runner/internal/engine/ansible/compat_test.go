package ansible

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// project is what an operator's image has, for tests of what the old operator's users rely on (AO §3, §9.3).
type project struct {
	files map[string]string
	links map[string]string
	env   []string // added to the operator's environment; %s is the content directory
	args  string   // --ansible-args; %s is the content directory
	// playbook or role, relative to the content directory.
	playbook, role, roleName string
	inputs                   map[string]any
	configure                func(cfg *Config, content string)
}

// write makes the files and returns an engine for the content.
func (p project) write(b *bench) *Engine {
	b.t.Helper()
	here := func(text string) string { return strings.ReplaceAll(text, "%s", b.content) }
	for name, text := range p.files {
		b.file(name, text)
	}
	for name, target := range p.links {
		if err := os.Symlink(target, filepath.Join(b.content, name)); err != nil {
			b.t.Fatal(err)
		}
	}
	b.configure = func(cfg *Config) {
		cfg.ExtraArgs = here(p.args)
		if p.configure != nil {
			p.configure(cfg, b.content)
		}
		cfg.Environ = func() []string {
			entries := os.Environ()
			for _, entry := range p.env {
				entries = append(entries, here(entry))
			}
			return entries
		}
	}
	if p.playbook != "" {
		return b.engine(Content{Playbook: filepath.Join(b.content, p.playbook)})
	}
	return b.engine(Content{Role: b.content + "/" + p.role, RoleName: p.roleName})
}

const (
	noFacts  = "ANSIBLE_GATHERING=explicit"
	localPy3 = " ansible_connection=local ansible_python_interpreter=/usr/bin/python3\n"
	// moduleText is a module that says where it lies.
	moduleText = "#!/usr/bin/python3\nfrom ansible.module_utils.basic import AnsibleModule\n" +
		"AnsibleModule({}).exit_json(said='module of %where%')\n"
	filterText = "class FilterModule(object):\n    def filters(self):\n        return {'%name%': lambda text: text + ' by %where%'}\n"
	actionText = "from ansible.plugins.action import ActionBase\nclass ActionModule(ActionBase):\n" +
		"    def run(self, tmp=None, task_vars=None):\n        return {'said': 'action of %where%'}\n"
)

func plugin(text, name, where string) string {
	return strings.NewReplacer("%name%", name, "%where%", where).Replace(text)
}

// check is a task that fails unless all conditions hold.
func check(conditions ...string) string {
	text := "- assert:\n    that:\n"
	for _, condition := range conditions {
		text += "      - " + condition + "\n"
	}
	return text
}

func playOn(hosts, tasks string) string {
	return "- hosts: " + hosts + "\n  gather_facts: false\n  tasks:\n" + indent(tasks)
}

// projects are the cases of the old operator's own tests, and what its users' images are made of.
var projects = map[string]project{
	// AO §9.3 ArgsTest: variables of a vault, whose password --ansible-args names. UP H8: quoting.
	"vault": {
		files: map[string]string{
			"pass word.yml": "s3cret\n",
			"secret.yml":    "", // encrypted by the test
			"play.yml":      playOn("localhost", "- include_vars: secret.yml\n"+check("encrypted == 'decrypted'", "given == 'a b'")),
		},
		args:     `'--vault-password-file "%s/pass word.yml" --extra-vars "{\"given\": \"a b\"}"'`,
		playbook: "play.yml",
	},
	// AO §9.3 CollectionTest; AO §1.3: the old operator ran it as a plain role, without its collection.
	"collection": {
		files: map[string]string{
			"c/ansible_collections/my/app/roles/db/tasks/main.yml": "- said: {}\n  register: it\n" +
				check("it.said == 'module of my.app'", "('x' | my.app.tag) == 'x by my.app'", "needed == 'by the role'"),
			"c/ansible_collections/my/app/roles/db/meta/main.yml":      "dependencies: [needed]\n",
			"c/ansible_collections/my/app/roles/needed/tasks/main.yml": "- set_fact: {needed: by the role}\n",
			"c/ansible_collections/my/app/plugins/modules/said.py":     plugin(moduleText, "", "my.app"),
			"c/ansible_collections/my/app/plugins/filter/tag.py":       plugin(filterText, "tag", "my.app"),
		},
		env:  []string{noFacts, "ANSIBLE_COLLECTIONS_PATH=%s/c"},
		role: "c/ansible_collections/my/app/roles/db", roleName: "my.app.db",
	},
	// AO §9.3 InventoryTest: a directory with group_vars, hosts other than localhost, filter plugins from ansible.cfg.
	"inventory": {
		files: map[string]string{
			"inventory/hosts":               "[test]\ntest" + localPy3,
			"inventory/group_vars/test.yml": "size: 3\n",
			"ansible.cfg":                   "[defaults]\nfilter_plugins = filters\nstdout_callback = minimal\n",
			"filters/tag.py":                plugin(filterText, "tag", "the configuration"),
			"play.yml": playOn("test", check("size == 3", "('x' | tag) == 'x by the configuration'", "inventory_hostname == 'test'")+
				"- command: \"true\"\n"),
		},
		env:      []string{"ANSIBLE_INVENTORY=%s/inventory", "ANSIBLE_CONFIG=%s/ansible.cfg"},
		playbook: "play.yml",
	},
	"inventory file": {
		files: map[string]string{
			"hosts":               "test" + localPy3,
			"group_vars/all.yml":  "size: 4\n",
			"play.yml":            playOn("test", check("size == 4")),
			"elsewhere/ignored.x": "",
		},
		env:      []string{"ANSIBLE_INVENTORY=%s/hosts"},
		playbook: "play.yml",
	},
	// AO §3.3: the interpreter of a virtual environment.
	"virtual environment": {
		files:    map[string]string{"play.yml": playOn("localhost", check("ansible_python_interpreter == venv ~ '/bin/python3'")+"- command: \"true\"\n"), "venv/bin/x": ""},
		links:    map[string]string{"venv/bin/python3": "/usr/bin/python3"},
		env:      []string{"VIRTUAL_ENV=%s/venv"},
		args:     "-e venv=%s/venv",
		playbook: "play.yml",
	},
	"plugins beside the playbook": {
		files: map[string]string{
			"play.yml": playOn("localhost", "- said: {}\n  register: it\n- acted: {}\n  register: act\n- shared: {}\n  register: share\n"+
				check("it.said == 'module of playbook'", "act.said == 'action of playbook'", "('x' | tag) == 'x by playbook'", "share.said == 'shared'")),
			"library/said.py":         plugin(moduleText, "", "playbook"),
			"library/shared.py":       "#!/usr/bin/python3\nfrom ansible.module_utils.basic import AnsibleModule\nfrom ansible.module_utils.words import WORD\nAnsibleModule({}).exit_json(said=WORD)\n",
			"module_utils/words.py":   "WORD = 'shared'\n",
			"filter_plugins/tag.py":   plugin(filterText, "tag", "playbook"),
			"action_plugins/acted.py": plugin(actionText, "", "playbook"),
			"library/acted.py":        plugin(moduleText, "", "nowhere"),
		},
		playbook: "play.yml",
	},
	"plugins beside the role": {
		files: map[string]string{
			"roles/app/tasks/main.yml": "- said: {}\n  register: it\n- acted: {}\n  register: act\n" +
				check("it.said == 'module of role'", "act.said == 'action of role'", "('x' | tag) == 'x by role'"),
			"roles/app/library/said.py":         plugin(moduleText, "", "role"),
			"roles/app/library/acted.py":        plugin(moduleText, "", "nowhere"),
			"roles/app/filter_plugins/tag.py":   plugin(filterText, "tag", "role"),
			"roles/app/action_plugins/acted.py": plugin(actionText, "", "role"),
		},
		env: []string{noFacts}, role: "roles/app", roleName: "app",
	},
	"collections beside the playbook": {
		files: map[string]string{
			"play.yml": playOn("localhost", "- my.app.said: {}\n  register: it\n"+check("it.said == 'module of the project'")),
			"collections/ansible_collections/my/app/plugins/modules/said.py": plugin(moduleText, "", "the project"),
		},
		playbook: "play.yml",
	},
	// AO 10.1 no. 10: the old operator failed each run of a role that is a link, and lost the name before a slash.
	"link with a slash": {
		files: map[string]string{"elsewhere/tasks/main.yml": check("ansible_role_name == 'app'"), "roles/x": ""},
		links: map[string]string{"roles/app": "../elsewhere"},
		env:   []string{noFacts}, role: "roles/app/", roleName: "app",
	},
	// AO §2.2, §10.6: the flags win over the environment, and dependencies of a role may lie on that path.
	"flags": {
		files: map[string]string{
			"roles/app/tasks/main.yml":                                "- my.app.said: {}\n  register: it\n" + check("it.said == 'module of the flag'", "needed == 'by the flag'"),
			"roles/app/meta/main.yml":                                 "dependencies: [needed]\n",
			"flagged/needed/tasks/main.yml":                           "- set_fact: {needed: by the flag}\n",
			"lost/needed/tasks/main.yml":                              "- set_fact: {needed: by the environment}\n",
			"c/ansible_collections/my/app/plugins/modules/said.py":    plugin(moduleText, "", "the flag"),
			"lost/ansible_collections/my/app/plugins/modules/said.py": plugin(moduleText, "", "the environment"),
		},
		env: []string{noFacts, "ANSIBLE_ROLES_PATH=%s/lost", "ANSIBLE_COLLECTIONS_PATH=%s/lost"},
		configure: func(cfg *Config, content string) {
			cfg.RolesPath, cfg.CollectionsPath = content+"/flagged", content+"/c"
		},
		role: "roles/app", roleName: "app",
	},
	// AO §2.2: facts are gathered for roles, unless ANSIBLE_GATHERING is explicit (see "link with a slash").
	"facts": {
		files: map[string]string{"roles/app/tasks/main.yml": check("ansible_facts.system == 'Linux'")},
		role:  "roles/app", roleName: "app",
	},
	// AO §9.3: all watches of the old tests have vars with Jinja in them.
	"variables of the watch": {
		files: map[string]string{"play.yml": playOn("localhost", check("meta.name == 'one'", "meta.namespace == 'default'"))},
		inputs: map[string]any{
			"ansible_operator_meta": map[string]any{"name": "one", "namespace": "default"},
			"meta":                  "{{ ansible_operator_meta }}",
		},
		playbook: "play.yml",
	},
}

// Covers AO 9.2 log.
func TestProjects(t *testing.T) {
	t.Parallel()
	for name, p := range projects {
		t.Run(name, func(t *testing.T) {
			eachExecutor(t, func(t *testing.T, b *bench) {
				e := p.write(b)
				if name == "vault" {
					encrypt(t, b.file("secret.yml", "encrypted: decrypted\n"), b.content+"/pass word.yml")
				}
				job := newJob()
				job.Inputs = p.inputs
				got := b.run(e, job)
				if !got.Outcome.OK() || got.Processes != 1 {
					t.Errorf("result is %+v\n%s", got, b.artifact(job, "stdout"))
				}
				b.onlyArtifactsLeft(job)
			})
		})
	}
}

func encrypt(t *testing.T, file, password string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ansible-vault", "encrypt", "--vault-password-file", password, file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestOtherHostsHaveTheirStats: the old field ansibleResult counts localhost only, and a change on another host is a
// change all the same (AO §4.4).
func TestOtherHostsHaveTheirStats(t *testing.T) {
	t.Parallel()
	eachExecutor(t, func(t *testing.T, b *bench) {
		job := newJob()
		got := b.run(projects["inventory"].write(b), job)
		if got.Outcome != engine.Changed || got.Stats == nil || got.Stats.OK != 0 || got.Stats.Changed != 0 {
			t.Errorf("result is %+v", got)
		}
		var recap string
		for _, text := range b.eventFiles(job) {
			if strings.Contains(text, `"playbook_on_stats"`) {
				recap = text
			}
		}
		if !strings.Contains(recap, `"ok": {"test": 2}`) || !strings.Contains(recap, `"changed": {"test": 1}`) {
			t.Errorf("the recap is %s", recap)
		}
		// stdout_callback of ansible.cfg; the default one writes a banner for each task.
		if stdout := b.artifact(job, "stdout"); strings.Contains(stdout, "TASK [") || !strings.Contains(stdout, "test | SUCCESS") {
			t.Errorf("stdout is %s", stdout)
		}
	})
}

// eventFiles returns the texts of a run's event files.
func (b *bench) eventFiles(job engine.Job) []string {
	b.t.Helper()
	names, err := filepath.Glob(b.artifactPath(job, "job_events/*"))
	if err != nil {
		b.t.Fatal(err)
	}
	var texts []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			b.t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}
