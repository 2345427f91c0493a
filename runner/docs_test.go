package runner_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/plan"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// follow does what a page of the manual says: it writes the files and carries out the commands, in their order, and
// compares what it sees with what the page shows.
func follow(t *testing.T, name string) shell {
	t.Helper()
	s := shell{setup(t, testkit.Cluster(t), nil)}
	for _, b := range blocks(readPage(t, name)) {
		switch {
		case b.file != "":
			if err := s.save(b.file, b.text); err != nil {
				t.Fatal(err)
			}
		case b.language == "console":
			for _, c := range b.commands() {
				s.follow(c)
			}
		}
	}
	for _, trouble := range []string{"drops fields of status", "Forbidden", "cannot be watched"} {
		if s.log.count(trouble) > 0 {
			t.Errorf("the log has %q:\n%s", trouble, s.log.text())
		}
	}
	return s
}

// follow carries out one command until it shows what the page does. What changes something is done once.
func (s shell) follow(c command) {
	s.t.Helper()
	s.t.Logf("$ %s", c.line)
	want := withoutAge(strings.Join(c.want, "\n"))
	reads := strings.HasPrefix(c.line, "kubectl get ") || strings.HasPrefix(c.line, "kubectl wait ")
	if !reads {
		got, err := s.do(s.t.Context(), c.line)
		if err == nil && len(c.want) > 0 && withoutAge(got) != want {
			err = fmt.Errorf("it prints %q, the page says %q", got, want)
		}
		if err != nil {
			s.t.Fatalf("$ %s: %v", c.line, err)
		}
		return
	}
	testkit.Eventually(s.t, soon, func(ctx context.Context) error {
		got, err := s.do(ctx, c.line)
		if err == nil && withoutAge(got) != want {
			err = fmt.Errorf("$ %s prints %q, the page says %q", c.line, got, want)
		}
		return err
	})
}

// age is what kubectl shows in the last column.
var age = regexp.MustCompile(`(?m) \d+[smhd](\d+[smhd])?$`)

func withoutAge(text string) string {
	return age.ReplaceAllString(strings.TrimRight(text, "\n"), " AGE")
}

// limit starts the operator anew with the rights of a service account of the test's namespace and no others.
func (s shell) limit(account string) {
	s.stop()
	s.start(func(o *runner.Options) {
		o.RESTConfig.Impersonate.UserName = "system:serviceaccount:" + s.namespace + ":" + account
	})
}

// refusals fails the test if a right was missing.
func (s shell) refusals() {
	s.t.Helper()
	if s.log.count("orbidden") > 0 {
		s.t.Errorf("the rights of rbac.yaml are not enough:\n%s", s.log.text())
	}
}

func TestFirstOperatorFromAPlaybook(t *testing.T) {
	t.Parallel()
	s := follow(t, "docs/first-operator-playbook.md")

	s.limit("greeter")
	for _, line := range []command{
		{line: "kubectl apply -f greeting.yaml"},
		{"kubectl wait --for=condition=Ready greeting/hello", []string{"greeting.example.com/hello condition met"}},
		{line: `kubectl patch configmap hello-greeting --type=merge -p '{"data":{"text":"by hand"}}'`},
		{"kubectl get configmap hello-greeting -o jsonpath={.data.text}", []string{"Good morning"}},
		{line: "kubectl delete greeting hello"},
	} {
		s.follow(line)
	}
	s.refusals()
}

func TestFirstOperatorFromAChart(t *testing.T) {
	t.Parallel()
	s := follow(t, "docs/first-operator-chart.md")

	s.limit("siteop")
	for _, line := range []command{
		{line: "kubectl apply -f site.yaml"},
		{"kubectl wait --for=condition=Ready site/shop", []string{"site.web.example.com/shop condition met"}},
		{line: `kubectl patch site shop --type=merge -p '{"spec":{"replicas":4}}'`},
		{"kubectl get deployment shop -o jsonpath={.spec.replicas}", []string{"4"}},
		{line: "kubectl delete service shop"},
		{"kubectl get service shop -o jsonpath={.spec.ports[0].port}", []string{"80"}},
		{line: "kubectl delete site shop"},
	} {
		s.follow(line)
	}
	s.refusals()
}

// TestReadmeAgreesWithTheManual compares the files of the README's first operator with those of the page.
func TestReadmeAgreesWithTheManual(t *testing.T) {
	files := map[string]string{}
	for _, b := range blocks(readPage(t, "docs/first-operator-playbook.md")) {
		if _, known := files[b.file]; !known {
			files[b.file] = b.text
		}
	}
	for _, b := range blocks(readPage(t, "README.md")) {
		if b.file != "" {
			if diff := cmp.Diff(files[b.file], b.text); diff != "" {
				t.Errorf("%s is another one in README.md (-docs/first-operator-playbook.md +README.md):\n%s", b.file, diff)
			}
		}
		for _, name := range regexp.MustCompile(`apply -f (\S+)`).FindAllStringSubmatch(b.text, -1) {
			if files[name[1]] == "" {
				t.Errorf("README.md applies %s, which docs/first-operator-playbook.md does not have", name[1])
			}
		}
	}
}

func TestStatusPageListsReasons(t *testing.T) {
	page := readPage(t, "docs/status.md")
	var got, want [][]string
	for _, row := range table(t, page, "### Reasons") {
		got = append(got, row[:2])
		if row[2] == "" {
			t.Errorf("the page does not say what to do about %s", row[0])
		}
	}
	for _, r := range status.Reasons() {
		want = append(want, []string{r.Reason, r.Meaning})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons in docs/status.md (-code +page):\n%s", diff)
	}
	want = nil
	for _, r := range observe.EventReasons() {
		want = append(want, []string{string(r.Reason), r.Type, r.Meaning})
	}
	if diff := cmp.Diff(want, table(t, page, "### Events")); diff != "" {
		t.Errorf("events in docs/status.md (-code +page):\n%s", diff)
	}
}

// TestStatusPageHasAHeadingForEachField makes a status of all there is and looks for its fields.
func TestStatusPageHasAHeadingForEachField(t *testing.T) {
	page := readPage(t, "docs/status.md")
	var fields []string
	for _, in := range fullInputs() {
		next, _ := status.Compute(nil, in)
		for key := range next {
			fields = append(fields, key)
		}
	}
	slices.Sort(fields)
	fields = slices.Compact(fields)
	if want := []string{"conditions", "deployedRelease", "observedGeneration", "outputs", "run"}; !slices.Equal(fields, want) {
		t.Errorf("status has the fields %v, want %v", fields, want)
	}
	for _, field := range append(fields, "Ready", "Reconciling", "Stalled") {
		if !strings.Contains(page, "\n#### `"+field+"`\n") {
			t.Errorf("docs/status.md has no heading for %s", field)
		}
	}
}

func TestRunningPageListsMetricsAndRules(t *testing.T) {
	page := readPage(t, "docs/running.md")
	var want [][]string
	for _, m := range observe.MetricNames() {
		want = append(want, []string{m.Name, m.Type, strings.Join(m.Labels, ", "), m.Meaning})
	}
	if diff := cmp.Diff(want, table(t, page, "## Metrics")); diff != "" {
		t.Errorf("metrics in docs/running.md (-code +page):\n%s", diff)
	}
	want = nil
	for _, r := range plan.Rules() {
		want = append(want, []string{r.Name, r.Meaning})
	}
	_, below, _ := strings.Cut(page, "These rules decide")
	if diff := cmp.Diff(want, table(t, "\n## Rules\n"+below, "## Rules")); diff != "" {
		t.Errorf("rules in docs/running.md (-code +page):\n%s", diff)
	}
}

func TestRunningPageListsLogLinesAndKeys(t *testing.T) {
	page := readPage(t, "docs/running.md")
	source := sourceText(t)
	for _, row := range table(t, page, "## Logs") {
		for line := range strings.SplitSeq(row[0], ", ") {
			if line != "Starting" && !strings.Contains(source, strconv.Quote(line)) {
				t.Errorf("docs/running.md has the log line %q, which is not in the code", line)
			}
		}
	}
	_, below, _ := strings.Cut(page, "Keys of the line that sums up a run")
	var got []string
	for _, row := range table(t, "\n## Keys\n"+below, "## Keys") {
		got = append(got, strings.Split(row[0], ", ")...)
	}
	want := logKeys(t)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys of log lines in docs/running.md (-code +page):\n%s", diff)
	}
}

// notInSummaries are keys that the summary of a run does not have.
var notInSummaries = []string{"group", "version"}

// logKeys reads the constants Key... of package observe.
func logKeys(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "internal/observe/log.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Key") {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(notInSummaries, value) {
			keys = append(keys, value)
		}
		return true
	})
	return keys
}

// sourceText is the Go code of this package and those below, without tests.
func sourceText(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		text.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksLead looks for what the manual and the other pages at the root link to.
func TestLinksLead(t *testing.T) {
	pages := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	docs, err := filepath.Glob(filepath.Join(testkit.RepoRoot(), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range docs {
		pages = append(pages, filepath.Join("docs", filepath.Base(path)))
	}
	for _, page := range pages {
		for _, match := range link.FindAllStringSubmatch(readPage(t, page), -1) {
			if !strings.Contains(match[1], "://") && !leads(t, page, match[1]) {
				t.Errorf("%s links to %s, which is not there", page, match[1])
			}
		}
	}
}

// leads reports whether a relative link has an end: a file, and in a page a heading.
func leads(t *testing.T, page, target string) bool {
	t.Helper()
	path, anchor, _ := strings.Cut(target, "#")
	if path != "" {
		page = filepath.Join(filepath.Dir(page), path)
	}
	if _, err := os.Stat(filepath.Join(testkit.RepoRoot(), page)); err != nil {
		return false
	}
	return anchor == "" || slices.Contains(anchors(readPage(t, page)), anchor)
}

var notInAnchors = regexp.MustCompile(`[^a-z0-9 _-]`)

// anchors are how headings are linked to.
func anchors(page string) []string {
	var list []string
	for line := range strings.Lines(page) {
		if _, heading, found := strings.Cut(line, "# "); found && strings.HasPrefix(line, "#") {
			heading = notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			list = append(list, strings.ReplaceAll(heading, " ", "-"))
		}
	}
	return list
}

// fullInputs are good runs of both kinds of content that have something to say.
func fullInputs() []status.Input {
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	play := engine.Result{Outcome: engine.Changed, Outputs: map[string]any{"size": int64(3)}, Stats: &engine.Stats{OK: 1, Completed: now}}
	chart := engine.Result{Outcome: engine.Changed, Release: &engine.Release{Name: "a", Version: 1, Action: engine.ActionInstall}}
	return []status.Input{
		{Phase: status.Done, Tool: status.AnsibleOperator, Generation: 1, RunID: "a", Trigger: engine.TriggerSpec, Result: play, Now: now},
		{Phase: status.Done, Tool: status.HelmOperator, Generation: 1, RunID: "b", Trigger: engine.TriggerSpec, Result: chart, Now: now},
	}
}
