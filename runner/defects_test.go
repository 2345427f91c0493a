package runner_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

const defectsFile = "testdata/defects.txt"

// defectLabels returns what the list must have: the cases of the old tool's tests, the defects found in its code, and what
// its users complained about.
func defectLabels() []string {
	named := map[string]string{
		"AO 9.2": "log,blacklist,scaling,size,metrics,monitoring,deletion",
		"AO 9.3": "Successful,custom status,user metrics,deletion,vars,ArgsTest,CaseTest,CollectionTest,InventoryTest," +
			"ReconciliationTest,SelectorTest,SecretsTest,SubresourcesTest,ClusterAnnotationTest,FinalizerConcurrencyTest",
		"AO 9.4": "k8s_status,failures,k8s_event",
	}
	var labels []string
	for section, cases := range named {
		for name := range strings.SplitSeq(cases, ",") {
			labels = append(labels, section+" "+name)
		}
	}
	for prefix, n := range map[string]int{
		"AO 10.1 no. ": 17, "AO 10.2 no. ": 6, "AO 10.3 no. ": 10, "AO 10.4 no. ": 4, "AO 10.5 no. ": 6,
		"UP A": 12, "UP B": 9, "UP C": 14, "UP D": 10, "UP E": 10, "UP F": 10, "UP G": 7, "UP H": 11, "UP I": 4,
		"UP J": 11, "UP K": 10, "UP L": 9, "HO 11.3 no. ": 28,
	} {
		for i := range n {
			labels = append(labels, prefix+strconv.Itoa(i+1))
		}
	}
	return labels
}

// TestDefectsAreProvenAbsent makes sure that each case and each defect of the old tools has a test, or a reason why not.
func TestDefectsAreProvenAbsent(t *testing.T) {
	text, err := os.ReadFile(defectsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problemsOfDefects(string(text), defectLabels(), readTests(t)) {
		t.Errorf("%s: %s", defectsFile, problem)
	}
}

// The check of the list must itself be able to fail.
func TestProblemsOfDefects(t *testing.T) {
	known := map[string]*testsOf{"a/b": {functions: []string{"TestIt"}, names: []string{"part one"}}}
	for name, tt := range map[string]struct {
		why, list string
		want      []string
	}{
		"Good":      {"all that a list may have", "# note\n\nX 1: bad: very\n  a/b TestIt\n  a/b TestIt/part one\n", nil},
		"Later":     {"a reason is enough", "X 1: bad\n  later: issue 5\n", nil},
		"NoReason":  {"no reason is not", "X 1: bad\n  later:\n", []string{"X 1: later: without a reason"}},
		"Missing":   {"each label must be there", "", []string{"X 1 is missing"}},
		"Twice":     {"once", "X 1: bad\n  a/b TestIt\nX 1: bad\n  a/b TestIt\n", []string{"X 1 is there twice"}},
		"Unknown":   {"others hide a typing error", "X 1: a\n  a/b TestIt\nX 2: a\n  a/b TestIt\n", []string{"X 2 is no known label"}},
		"NoTest":    {"nothing proves nothing", "X 1: bad\n", []string{"X 1 has no test and no reason"}},
		"NoFunc":    {"a test that was renamed", "X 1: bad\n  a/b TestThat\n", []string{"X 1: a/b has no TestThat"}},
		"NoPackage": {"a package that was moved", "X 1: bad\n  b TestIt\n", []string{"X 1: b has no TestIt"}},
		"NoSubtest": {"a case that was renamed", "X 1: bad\n  a/b TestIt/part two\n", []string{`X 1: a/b says nowhere "part two"`}},
	} {
		if got := problemsOfDefects(tt.list, []string{"X 1"}, known); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %s: got %q, want %q", name, tt.why, got, tt.want)
		}
	}
}

// testsOf are the tests of a package.
type testsOf struct {
	functions []string
	names     []string // string literals, among them names of subtests, and names of files of test data
}

// problemsOfDefects says what is wrong with a list of defects.
func problemsOfDefects(list string, labels []string, known map[string]*testsOf) (problems []string) {
	proofs := map[string]int{}
	label := ""
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !strings.HasPrefix(line, "  "):
			label, _, _ = strings.Cut(line, ": ")
			if _, there := proofs[label]; there {
				problems = append(problems, label+" is there twice")
			} else if !slices.Contains(labels, label) {
				problems = append(problems, label+" is no known label")
			}
			proofs[label] += 0
		default:
			proofs[label]++
			if problem := problemOfProof(strings.TrimSpace(line), known); problem != "" {
				problems = append(problems, label+": "+problem)
			}
		}
	}
	for _, label := range labels {
		if _, there := proofs[label]; !there {
			problems = append(problems, label+" is missing")
		}
	}
	for _, label := range slices.Sorted(maps.Keys(proofs)) {
		if proofs[label] == 0 {
			problems = append(problems, label+" has no test and no reason")
		}
	}
	return problems
}

func problemOfProof(proof string, known map[string]*testsOf) string {
	for _, word := range []string{"later:", "kept:"} {
		if reason, ok := strings.CutPrefix(proof, word); ok {
			if strings.TrimSpace(reason) == "" {
				return word + " without a reason"
			}
			return ""
		}
	}
	dir, test, _ := strings.Cut(proof, " ")
	function, path, isSubtest := strings.Cut(test, "/")
	tests := known[dir]
	if tests == nil || !slices.Contains(tests.functions, function) {
		return fmt.Sprintf("%s has no %s", dir, function)
	}
	if part := path[strings.LastIndex(path, "/")+1:]; isSubtest && !slices.Contains(tests.names, part) {
		return fmt.Sprintf("%s says nowhere %q", dir, part)
	}
	return ""
}

// readTests reads the tests of all packages that the list may name, by their directories.
func readTests(t *testing.T) map[string]*testsOf {
	t.Helper()
	root := testkit.RepoRoot()
	found := map[string]*testsOf{}
	for _, top := range []string{"runner", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			dir, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			if found[dir] == nil {
				found[dir] = &testsOf{names: namesOfTestData(filepath.Dir(path))}
			}
			return found[dir].add(path)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// add reads one file.
func (f *testsOf) add(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Test") {
			f.functions = append(f.functions, function.Name.Name)
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				f.names = append(f.names, text)
			}
		}
		return true
	})
	return nil
}

// namesOfTestData returns the names, without their endings, of a package's files of test data: some subtests have them.
func namesOfTestData(dir string) (names []string) {
	_ = filepath.WalkDir(filepath.Join(dir, "testdata"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
		}
		return nil // a package without test data has none
	})
	return names
}
