package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Kubectl returns the path of a kubectl of the Kubernetes version that this module uses, which is built once per process.
func Kubectl(tb testing.TB) string {
	tb.Helper()
	return program(tb, "kubectl", buildKubectl)
}

// Helm returns the path of the Helm that this module uses, as its users have it.
func Helm(tb testing.TB) string {
	tb.Helper()
	return program(tb, "helm", buildHelm)
}

var (
	buildKubectl = sync.OnceValues(func() ([]byte, error) {
		dir, err := os.MkdirTemp("", "chartbook-test-kubectl-")
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, "kubectl")
		out, err := command("build", "-o", path, "./runner/internal/testkit/kubectl")
		if err != nil {
			return out, err
		}
		return []byte(path), nil
	})
	buildHelm = sync.OnceValues(func() ([]byte, error) { return command("tool", "-n", "helm") })
)

// command runs the go command in this module.
func command(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = RepoRoot()
	return cmd.CombinedOutput()
}

func program(tb testing.TB, name string, build func() ([]byte, error)) string {
	tb.Helper()
	out, err := build()
	if err != nil {
		tb.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return strings.TrimSpace(string(out))
}
