package differential

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// coreVariable names a directory with an ansible-core other than that on the path: a virtual environment or a checkout.
const coreVariable = "CHARTBOOK_TEST_ANSIBLE"

// core is the ansible-core that is tested.
type core struct {
	dir     string            // with ansible-playbook in it; empty for the one on the path
	python  string            // its interpreter
	env     map[string]string // what it needs in its environment
	version string
}

// findCore finds the ansible-core to test.
func findCore(t *testing.T) core {
	t.Helper()
	var c core
	if dir := os.Getenv(coreVariable); dir != "" {
		c = coreIn(t, dir)
	}
	path, err := c.lookPath("ansible-playbook")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	c.python = interpreter(t, path)
	cmd := exec.CommandContext(t.Context(), path, "--version")
	cmd.Env = os.Environ()
	for name, value := range c.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ask %s for its version: %v", path, err)
	}
	c.version, _, _ = strings.Cut(string(out), "\n")
	return c
}

// coreIn returns the ansible-core of a directory. A checkout has no program that names its interpreter, so it gets one
// that runs with Debian's.
func coreIn(t *testing.T, dir string) core {
	t.Helper()
	lib := filepath.Join(dir, "lib")
	if _, err := os.Stat(filepath.Join(lib, "ansible", "release.py")); err != nil {
		return core{dir: filepath.Join(dir, "bin")}
	}
	bin := t.TempDir()
	for name, main := range map[string]string{
		"ansible-playbook": "ansible.cli.playbook", "ansible-connection": "ansible.cli.scripts.ansible_connection_cli_stub",
	} {
		text := fmt.Sprintf("#!/usr/bin/python3\nimport sys\nfrom %s import main\nif __name__ == '__main__':\n    sys.exit(main())\n", main)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return core{dir: bin, env: map[string]string{"PYTHONPATH": lib}}
}

func (c core) lookPath(name string) (string, error) {
	if c.dir != "" {
		return exec.LookPath(filepath.Join(c.dir, name))
	}
	return exec.LookPath(name)
}

// interpreter returns what the first line of a script names.
func interpreter(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(bytes.NewReader(text)).ReadString('\n')
	name, found := strings.CutPrefix(line, "#!")
	if !found {
		t.Fatalf("%s is no script", path)
	}
	return strings.TrimSpace(name)
}
