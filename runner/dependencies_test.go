package runner_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// TestEachDependencyIsExplained keeps the table of direct dependencies in CONTRIBUTING.md complete.
func TestEachDependencyIsExplained(t *testing.T) {
	gomod, err := os.ReadFile(filepath.Join(testkit.RepoRoot(), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	contributing, err := os.ReadFile(filepath.Join(testkit.RepoRoot(), "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(gomod), -1)
	if len(direct) < 10 {
		t.Fatalf("found only %d direct dependencies in go.mod", len(direct))
	}
	for _, module := range direct {
		if !strings.Contains(string(contributing), module[1]) {
			t.Errorf("CONTRIBUTING.md does not say what %s is for", module[1])
		}
	}
}
