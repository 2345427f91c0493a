package status

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// reasonSources are the packages whose constants named Reason... end up in conditions.
var reasonSources = []string{".", "../engine", "../plan", "../input"}

func TestReasonsAreListed(t *testing.T) {
	listed := map[string]bool{}
	for _, r := range Reasons() {
		listed[r.Reason] = true
	}
	for _, dir := range reasonSources {
		for value, name := range reasonConstants(t, dir) {
			if !listed[value] {
				t.Errorf("%s in %s is %q, which is not in the closed list of reasons", name, dir, value)
			}
		}
	}
}

func TestReasonsAreExplained(t *testing.T) {
	sentence := regexp.MustCompile(`^[A-Z].*[a-z)]\.$`)
	seen := map[string]bool{}
	for _, r := range Reasons() {
		if seen[r.Reason] {
			t.Errorf("reason %s is listed twice", r.Reason)
		}
		seen[r.Reason] = true
		if !reasonForm.MatchString(r.Reason) {
			t.Errorf("reason %q is not fit for a condition", r.Reason)
		}
		if !sentence.MatchString(r.Meaning) {
			t.Errorf("reason %s is not explained by one sentence: %q", r.Reason, r.Meaning)
		}
	}
}

// reasonConstants returns the values of a package's constants that are named Reason or reason something, with their
// names.
func reasonConstants(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		if err != nil {
			t.Skipf("%s does not parse: %v", file, err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Names) != len(spec.Values) {
				return true
			}
			for i, name := range spec.Names {
				literal, ok := spec.Values[i].(*ast.BasicLit)
				if ok && literal.Kind == token.STRING && strings.HasPrefix(strings.ToLower(name.Name), "reason") {
					if value, err := strconv.Unquote(literal.Value); err == nil {
						found[value] = name.Name
					}
				}
			}
			return true
		})
	}
	return found
}
