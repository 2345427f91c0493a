package ansible

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPython runs the tests of the plugins with the Python of ansible-playbook and each other one that is installed.
func TestPython(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	pythons := []string{ansiblePython(t)}
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil && !slices.Contains(pythons, path) {
			pythons = append(pythons, path)
		}
	}
	for _, python := range pythons {
		t.Run(python, func(t *testing.T) {
			unittest(t, python, "python/tests", testModules(t, "python/tests"))
		})
	}
}

// TestWarmPython runs the tests of the processes that fork runs with the Python of ansible-playbook, which is the only one
// that has Ansible.
func TestWarmPython(t *testing.T) {
	needAnsible(t)
	python := ansiblePython(t)
	for _, module := range testModules(t, "python/tests/warm") {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			unittest(t, python, "python/tests", []string{"warm." + module})
		})
	}
}

// unittest runs modules of tests that a directory holds.
func unittest(t *testing.T, python, dir string, modules []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python, append([]string{"-m", "unittest"}, modules...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// testModules returns the names of the modules of tests in a directory, at least one.
func testModules(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "test_*.py"))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".py"))
	}
	if len(names) == 0 {
		t.Fatalf("there are no tests in %s", dir)
	}
	return names
}

// ansiblePython returns the Python that the first line of ansible-playbook names.
func ansiblePython(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	python, found := strings.CutPrefix(strings.TrimSpace(first), "#!")
	if !found {
		t.Fatalf("%s is no script: %q", path, first)
	}
	return strings.TrimSpace(python)
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
