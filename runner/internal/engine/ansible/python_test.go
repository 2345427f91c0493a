package ansible

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestPython runs the tests of the Python code with each Python that is installed. Those of the warm executor leave
// themselves out where that is not the Python of ansible-playbook.
func TestPython(t *testing.T) {
	t.Parallel()
	pythons := []string{}
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil && !slices.Contains(pythons, path) {
			pythons = append(pythons, path)
		}
	}
	if len(pythons) == 0 {
		t.Skip("python3 is not installed")
	}
	for _, python := range pythons {
		t.Run(python, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), python, "-m", "unittest", "discover", "-s", "tests")
			cmd.Dir = "python"
			cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestInstallPlugins(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // again over the old ones
		if err := installPlugins(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{
		"python/callback/chartbook_events.py",
		"python/collections/ansible_collections/operator_sdk/util/plugins/action/requeue_after.py",
		"python/collections/ansible_collections/operator_sdk/util/plugins/modules/requeue_after.py",
		"python/collections/ansible_collections/operator_sdk/util/MANIFEST.json",
		"python/collections/ansible_collections/operator_sdk/util/plugins/module_utils/api.py",
		"python/warm/start.py",
		"python/warm/chartbook_warm/__init__.py",
	} {
		info, err := os.Stat(filepath.Join(dir, file))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	if left, _ := filepath.Glob(dir + "/python/callback/*"); len(left) != 1 {
		t.Errorf("Ansible would load all of %v", left)
	}
}
