package runner_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/plan"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

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
			if !strings.Contains(source, strconv.Quote(line)) {
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

// TestRunningPageListsSteps compares the manual with the levels of --ansible-log-events and with what steps say.
func TestRunningPageListsSteps(t *testing.T) {
	page := readPage(t, "docs/running.md")
	var levels []observe.StepLevel
	for _, row := range table(t, page, "### Steps of a run") {
		levels = append(levels, observe.StepLevel(row[0]))
	}
	if diff := cmp.Diff([]observe.StepLevel{observe.StepsNothing, observe.StepsTasks, observe.StepsEverything}, levels); diff != "" {
		t.Errorf("levels in docs/running.md (-code +page):\n%s", diff)
	}
	_, section, _ := strings.Cut(page, "### Steps of a run")
	section, _, _ = strings.Cut(section, "\n## ")
	full := engine.Event{Kind: engine.EventOK, Play: "a", Task: "a", Action: "a", Host: "a", File: "a", Ignored: true, Duration: time.Second, Message: "a", Text: "a"}
	line, _ := observe.Steps{Level: observe.StepsEverything}.Line(full, false)
	for i := 0; i < len(line.KeysAndValues); i += 2 {
		if key := line.KeysAndValues[i].(string); !strings.Contains(section, "`"+key+"`") {
			t.Errorf("docs/running.md does not tell of a step's %s", key)
		}
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

// sourceText is the Go code of this package, those below and the command, without tests.
func sourceText(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for _, dir := range []string{".", filepath.Join("..", "cmd", "chartbook")} {
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
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
	}
	return text.String()
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
