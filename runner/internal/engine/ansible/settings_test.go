package ansible

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseDefaults(t *testing.T) {
	const text = `
# a comment
; another
[galaxy]
roles_path = /not/here
[defaults]
Roles_Path = /a:/b ; mine
callback_plugins: "c:d"
nothing =
	# also a comment
collections_path=/x:
   /y
=no key
no value
url = http://a;b
[ssh_connection]
remote_tmp = /not/here`
	want := map[string]string{
		"roles_path": "/a:/b", "callback_plugins": "c:d", "nothing": "", "collections_path": "/x:/y", "url": "http://a;b",
	}
	if diff := cmp.Diff(want, parseDefaults(text)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func FuzzParseDefaults(f *testing.F) {
	f.Add("[defaults]\na = b\n c\n")
	f.Add("[defaults]\n=\n:\n[")
	f.Fuzz(func(_ *testing.T, text string) { parseDefaults(text) })
}

func TestSettings(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "ansible.cfg"), "[defaults]\nroles_path = rel:/abs:~/home:{{CWD}}/x\ncollections_paths = old\n")
	write(filepath.Join(home, ".ansible.cfg"), "[defaults]\ncallback_plugins = mine\nhome = h\n")
	type paths struct{ Callbacks, Roles, Collections string }
	tests := []struct {
		why  string
		env  environment
		want paths
	}{
		{"a directory stands for the file in it; relative paths begin at the file",
			environment{"ANSIBLE_CONFIG": dir, "HOME": "/h"}, paths{
				"/h/.ansible/plugins/callback:/usr/share/ansible/plugins/callback",
				dir + "/rel:/abs:~/home:{{CWD}}/x", dir + "/old"}},
		{"the file in the home directory is next; it may move Ansible's own directory",
			environment{"HOME": home}, paths{
				home + "/mine", home + "/h/roles:/usr/share/ansible/roles:/etc/ansible/roles",
				home + "/h/collections:/usr/share/ansible/collections"}},
		{"the environment wins over the file",
			environment{"ANSIBLE_CONFIG": dir + "/ansible.cfg", "HOME": "/h", "ANSIBLE_ROLES_PATH": "/r",
				"ANSIBLE_COLLECTIONS_PATHS": "/c", "ANSIBLE_CALLBACK_PLUGINS": "/p"},
			paths{"/p", "/r", "/c"}},
		{"the new name of a variable wins over the old one",
			environment{"ANSIBLE_COLLECTIONS_PATHS": "/old", "ANSIBLE_COLLECTIONS_PATH": "/new", "ANSIBLE_HOME": "/a", "HOME": "/h"},
			paths{"/a/plugins/callback:/usr/share/ansible/plugins/callback", "/a/roles:/usr/share/ansible/roles:/etc/ansible/roles", "/new"}},
	}
	for _, tt := range tests {
		s := readSettings(tt.env)
		if diff := cmp.Diff(tt.want, paths{s.callbackPlugins(), s.roles(), s.collections()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}
