package ansible

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCollections(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("play.yml", "- hosts: localhost\n  tasks:\n    - kubernetes.core.k8s:\n    - name: x\n      community.general.ini_file: {}\n    - ansible.builtin.debug:\n")
	write("roles/app/tasks/main.yaml", "- my.own.thing : {}\n- metadata: {labels: {a.b.c: d}}\n- msg: not.a.key\n  also.not.one.of.these: x\n")
	write("roles/app/templates/x.j2", "- in.no.yaml:\n")
	write(".git/x.yml", "- hidden.from.sight:\n")
	write("collections/ansible_collections/a/b/x.yml", "- all.of.these:\n")
	write(strings.Repeat("deep/", maxScannedDeep+1)+"x.yml", "- too.deep.down:\n")
	write("large.yml", "- too.large.tosee:\n"+strings.Repeat("#", maxScannedSize))
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "device.yml")); err != nil {
		t.Fatal(err)
	}
	want := []string{"community.general", "kubernetes.core", "my.own", "operator_sdk.util"}
	if diff := cmp.Diff(want, Collections([]string{dir, "/nowhere"})); diff != "" {
		t.Errorf("collections (-want +got):\n%s", diff)
	}
	for i := range 2 * maxCollections {
		write(fmt.Sprintf("many/%d.yml", i), fmt.Sprintf("- ns.c%d.m:\n", i))
	}
	if n := len(Collections([]string{dir})); n != maxCollections {
		t.Errorf("there are %d collections", n)
	}
}

func TestAdjacentNamespaces(t *testing.T) {
	b := newBench(t)
	playbook := b.file("playbook.yml", "")
	if got := adjacentNamespaces(playbook); got != nil {
		t.Errorf("beside nothing there is %v", got)
	}
	b.file("collections/ansible_collections/kubernetes/core/x", "")
	b.file("collections/ansible_collections/my/own/x", "")
	if diff := cmp.Diff([]string{"kubernetes", "my"}, adjacentNamespaces(playbook)); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
	if got := adjacentNamespaces(""); got != nil {
		t.Errorf("a role has %v beside it", got)
	}
}
