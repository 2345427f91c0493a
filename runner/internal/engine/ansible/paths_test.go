package ansible

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathsOfTheEnvironmentAreAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got := newEnvironment([]string{
		"TMPDIR=t", "VIRTUAL_ENV=../venv", "ANSIBLE_CONFIG=./ansible.cfg", "ANSIBLE_ROLES_PATH=roles:/opt/roles:~/roles:",
		"ANSIBLE_FILTER_PLUGINS=f", "ANSIBLE_LIBRARY=", "ANSIBLE_COLLECTIONS_PATH={{CWD}}/c:$HOME/c",
		"ANSIBLE_STRATEGY=free", "OTHER=relative",
	})
	want := environment{
		"TMPDIR": here + "/t", "VIRTUAL_ENV": filepath.Dir(here) + "/venv", "ANSIBLE_CONFIG": here + "/ansible.cfg",
		"ANSIBLE_ROLES_PATH": here + "/roles:/opt/roles:~/roles:", "ANSIBLE_FILTER_PLUGINS": here + "/f", "ANSIBLE_LIBRARY": "",
		"ANSIBLE_COLLECTIONS_PATH": "{{CWD}}/c:$HOME/c", "ANSIBLE_STRATEGY": "free", "OTHER": "relative",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWorkspaceBelowARelativeTMPDIR(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", "new/temp")
	for i := range 2 { // the shared one, and one that evades
		w := openTestWorkspace(t, "", 0)
		defer func() { _ = w.Close() }()
		if !filepath.IsAbs(w.Dir()) || !strings.Contains(w.Dir(), "/new/temp/") {
			t.Errorf("workspace %d is %s", i, w.Dir())
		}
	}
	w := openTestWorkspace(t, "own", 0)
	defer func() { _ = w.Close() }()
	if !filepath.IsAbs(w.Dir()) {
		t.Errorf("a chosen workspace is %s", w.Dir())
	}
}

func TestTMPDIRThatIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", path)
	_, err := OpenWorkspace("", 0)
	if err == nil || !strings.Contains(err.Error(), "TMPDIR") || !strings.Contains(err.Error(), path) {
		t.Errorf("the error is %v, want one that names TMPDIR and the file", err)
	}
}
