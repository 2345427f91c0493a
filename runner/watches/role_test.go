package watches

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRolePlaces(t *testing.T) {
	cases := []struct {
		reason, value string
		env           map[string]string
		want          []string
	}{
		{"an absolute path is the only place", "/opt/roles/app/", nil, []string{"/opt/roles/app"}},
		{"a name is looked for in roles, then as a path", "app", nil, []string{"/base/roles/app", "/base/app"}},
		{"so is a relative path", "relative/Foo", nil, []string{"/base/roles/relative/Foo", "/base/relative/Foo"}},
		{
			"each roles path counts with and without roles", "app",
			map[string]string{"ANSIBLE_ROLES_PATH": "/a:b"},
			[]string{"/a/app", "/a/roles/app", "/base/b/app", "/base/b/roles/app", "/base/roles/app", "/base/app"},
		},
		{
			"three parts name a role of a collection", "ns.coll.role", nil,
			[]string{
				"/usr/share/ansible/collections/ansible_collections/ns/coll/roles/role",
				"/home/me/.ansible/collections/ansible_collections/ns/coll/roles/role",
				"/base/roles/ns.coll.role", "/base/ns.coll.role",
			},
		},
		{
			"a collections path takes the place of the defaults", "ns.coll.role",
			map[string]string{"ANSIBLE_COLLECTIONS_PATH": "/c:d", "ANSIBLE_ROLES_PATH": "/r"},
			[]string{
				"/c/ansible_collections/ns/coll/roles/role", "/base/d/ansible_collections/ns/coll/roles/role",
				"/r/ns.coll.role", "/r/roles/ns.coll.role", "/base/roles/ns.coll.role", "/base/ns.coll.role",
			},
		},
		{"the plural name of the variable was never read", "a.b.c", map[string]string{"ANSIBLE_COLLECTIONS_PATHS": "/c", "HOME": ""},
			[]string{
				"/usr/share/ansible/collections/ansible_collections/a/b/roles/c",
				"/home/me/.ansible/collections/ansible_collections/a/b/roles/c",
				"/base/roles/a.b.c", "/base/a.b.c",
			},
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			d := &decoder{options: Options{Dir: "/base", Home: "/home/me", LookupEnv: environment(c.env)}}
			var got []string
			for _, place := range d.rolePlaces(c.value) {
				got = append(got, place.path)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRole(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"real", "roles/plain", "lib/roles/library", "roles/a.b.c", "coll/ansible_collections/acme/tools/roles/cleaner", "here"} {
		if err := os.MkdirAll(filepath.Join(dir, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../real", filepath.Join(dir, "roles/linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "roles/here"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"ANSIBLE_ROLES_PATH": "lib", "ANSIBLE_COLLECTIONS_PATH": filepath.Join(dir, "coll")}
	cases := []struct{ reason, role, path, name string }{
		{"a role in roles", "plain", "roles/plain", "plain"},
		{"a slash at the end changes nothing", "plain/", "roles/plain", "plain"},
		{"an absolute path with a slash at the end has a name too", dir + "/roles/plain/", "roles/plain", "plain"},
		{"a symbolic link to a role is a role", "linked", "roles/linked", "linked"},
		{"a role on the roles path", "library", "lib/roles/library", "library"},
		{"a role of a collection keeps its full name", "acme.tools.cleaner", "coll/ansible_collections/acme/tools/roles/cleaner", "acme.tools.cleaner"},
		{"a name with dots may be a plain role", "a.b.c", "roles/a.b.c", "a.b.c"},
		{"a path from the working directory", "real", "real", "real"},
		{"a file of the name is passed over", "here", "here", "here"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			got, _, err := decodeOne(t, "markUnsafe: true\nrole: "+c.role, Options{Dir: dir, LookupEnv: environment(env)})
			if err != nil {
				t.Fatal(err)
			}
			if got.Role != filepath.Join(dir, c.path) || got.RoleName != c.name {
				t.Errorf("role %s is %s at %s, want %s at %s", c.role, got.RoleName, got.Role, c.name, filepath.Join(dir, c.path))
			}
		})
	}
}

func TestUnreadableContentIsTold(t *testing.T) {
	denied := func(string) (fs.FileInfo, error) { return nil, fs.ErrPermission }
	for _, key := range []string{"playbook", "role", "chart"} {
		_, _, err := decodeOne(t, key+": x", Options{Stat: denied})
		want := "watches.yaml:4:" + map[string]string{"playbook": "13", "role": "9", "chart": "10"}[key] +
			": " + key + ` "x" cannot be read: permission denied`
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
