package runner_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// foreign are metrics of Prometheus, controller-runtime and Go that the dashboard and the alerts use, with their labels.
var foreign = map[string][]string{
	"workqueue_depth": {"name", "controller"},
	"controller_runtime_reconcile_errors_total": {"controller"},
	"leader_election_master_status":             {"name"},
	"process_resident_memory_bytes":             nil,
	"process_cpu_seconds_total":                 nil,
	"go_goroutines":                             nil,
}

// targetLabels are what Prometheus adds to all metrics of a target.
var targetLabels = []string{"job", "namespace", "pod"}

// functions and words of PromQL that may stand where a metric could.
var promqlWords = strings.Fields("sum max count rate increase histogram_quantile absent max_over_time by unless or and on")

type rule struct {
	Alert       string
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

func alertRules(t *testing.T) []rule {
	t.Helper()
	var object struct {
		APIVersion string `json:"apiVersion"`
		Kind       string
		Metadata   any
		Spec       struct {
			Groups []struct {
				Name  string
				Rules []rule
			}
		}
	}
	if err := yaml.UnmarshalStrict(read(t, "prometheus_rule.yaml"), &object); err != nil {
		t.Fatalf("read the alert rules: %v", err)
	}
	if object.Kind != "PrometheusRule" || len(object.Spec.Groups) != 1 {
		t.Fatalf("this is no PrometheusRule with one group: %+v", object)
	}
	return object.Spec.Groups[0].Rules
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testkit.RepoRoot(), "deploy", "monitoring", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAlertRules(t *testing.T) {
	rules := alertRules(t)
	if len(rules) == 0 {
		t.Error("there are no rules")
	}
	page := readPage(t, "docs/running.md")
	listed := map[string]string{}
	for _, row := range table(t, page, "### Alerts") {
		listed[row[0]] = row[1]
	}
	for _, r := range rules {
		for _, problem := range problemsOf(r.Expr) {
			t.Errorf("alert %s: %s", r.Alert, problem)
		}
		if !regexp.MustCompile(`^\d+[mh]$`).MatchString(r.For) || !slices.Contains([]string{"warning", "critical"}, r.Labels["severity"]) {
			t.Errorf("alert %s is for %q and of severity %q", r.Alert, r.For, r.Labels["severity"])
		}
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("alert %s does not say what to do", r.Alert)
		}
		if listed[r.Alert] != r.Labels["severity"] {
			t.Errorf("docs/running.md says %q about alert %s, which is %s", listed[r.Alert], r.Alert, r.Labels["severity"])
		}
		delete(listed, r.Alert)
	}
	if len(listed) > 0 {
		t.Errorf("docs/running.md has alerts that do not exist: %v", listed)
	}
}

// TestDashboard reads what Grafana would import, and finds each of our metrics on it.
func TestDashboard(t *testing.T) {
	text := read(t, "dashboard.json")
	var board struct {
		UID, Title string
		Templating struct{ List []struct{ Name, Type string } }
		Panels     []struct {
			ID         int
			Title      string
			Type       string
			Datasource struct{ UID string }
			Targets    []struct{ Expr, RefID string }
			GridPos    struct{ H, W, X, Y int }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if board.UID == "" || board.Title == "" || len(board.Templating.List) == 0 || board.Templating.List[0].Type != "datasource" {
		t.Errorf("the dashboard lacks a name or the choice of a data source: %+v", board)
	}
	ids, places := map[int]bool{}, map[string]bool{}
	for _, panel := range board.Panels {
		place := fmt.Sprint(panel.GridPos.X, ",", panel.GridPos.Y)
		if ids[panel.ID] || places[place] || panel.GridPos.X+panel.GridPos.W > 24 {
			t.Errorf("panel %q has the id or the place of another one: %+v", panel.Title, panel)
		}
		ids[panel.ID], places[place] = true, true
		if panel.Type == "row" {
			continue
		}
		if panel.Datasource.UID != "${datasource}" || len(panel.Targets) == 0 {
			t.Errorf("panel %q does not ask the chosen data source", panel.Title)
		}
		for _, target := range panel.Targets {
			for _, problem := range problemsOf(target.Expr) {
				t.Errorf("panel %q: %s", panel.Title, problem)
			}
		}
	}
	for _, m := range observe.MetricNames() {
		if !strings.HasSuffix(m.Name, "_build_info") && !strings.Contains(string(text), m.Name) {
			t.Errorf("metric %s is on no panel", m.Name)
		}
	}
}

// TestMonitoringIsApplied looks for each file of the folder in its kustomization.
// Covers AO 9.2 monitoring.
func TestMonitoringIsApplied(t *testing.T) {
	kustomization := string(read(t, "kustomization.yaml"))
	for _, name := range []string{"service_monitor.yaml", "prometheus_rule.yaml", "dashboard.json"} {
		if len(read(t, name)) == 0 || !strings.Contains(kustomization, name) {
			t.Errorf("%s is not applied", name)
		}
	}
}

// The check of expressions must itself be able to fail.
func TestProblemsOfExpressions(t *testing.T) {
	for expr, want := range map[string]int{
		`sum by (kind) (rate(chartbook_runs_total{outcome!="x"}[5m])) > 0.5`: 0,
		`rate(chartbook_runs[5m])`:               1, // no such metric
		`rate(chartbook_runs_total[5m]`:          1, // a bracket that is not closed
		`chartbook_runs_total{result="x"}`:       1, // a label that the metric does not have
		`sum by (colour) (chartbook_runs_total)`: 1,
		`chartbook_run_duration_seconds`:         1, // a histogram has no series of its own name
		`chartbook_runs_total_bucket`:            1, // and a counter no buckets
		`histogram_quantile(0.9, sum by (le) (rate(chartbook_run_duration_seconds_bucket[5m])))`: 0,
		`quantil(0.9, chartbook_runs_total)`:                                                     1,
		``:                                                                                       1,
	} {
		if problems := problemsOf(expr); (len(problems) > 0) != (want > 0) {
			t.Errorf("%s: found %q, want %d", expr, problems, want)
		}
	}
}

var (
	promqlString   = regexp.MustCompile(`"[^"]*"`)
	promqlSelector = regexp.MustCompile(`([a-zA-Z_:]+)\{([^}]*)\}`)
	promqlMatcher  = regexp.MustCompile(`^([a-z_A-Z]+)(=|!=|=~|!~)""$`)
	promqlGroup    = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
	promqlName     = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	promqlRange    = regexp.MustCompile(`\[(?:[0-9]+[smhd]|\$__rate_interval)\]`)
)

// problemsOf returns what is wrong with an expression: brackets, metrics and labels that do not exist. It knows as much of
// PromQL as we use.
func problemsOf(expr string) []string {
	var problems []string
	if strings.Count(expr, "(") != strings.Count(expr, ")") || strings.Count(expr, "{") != strings.Count(expr, "}") || expr == "" {
		return []string{"brackets do not match: " + expr}
	}
	series := seriesLabels()
	rest := promqlRange.ReplaceAllString(promqlString.ReplaceAllString(expr, `""`), "")
	used := map[string]bool{"le": true}
	for _, name := range promqlName.FindAllString(rest, -1) {
		for _, label := range series[name] {
			used[label] = true
		}
	}
	for _, selector := range promqlSelector.FindAllStringSubmatch(rest, -1) {
		for matcher := range strings.SplitSeq(selector[2], ",") {
			label := promqlMatcher.FindStringSubmatch(matcher)
			if label == nil || !slices.Contains(append(series[selector[1]], targetLabels...), label[1]) {
				problems = append(problems, fmt.Sprintf("%s has no label for %s", selector[1], matcher))
			}
		}
	}
	for _, group := range promqlGroup.FindAllStringSubmatch(rest, -1) {
		for label := range strings.FieldsFuncSeq(group[1], func(r rune) bool { return r == ',' || r == ' ' }) {
			if !used[label] && !slices.Contains(targetLabels, label) {
				problems = append(problems, "nothing has the label "+label)
			}
		}
	}
	rest = promqlGroup.ReplaceAllString(promqlSelector.ReplaceAllString(rest, "$1"), "")
	for _, name := range promqlName.FindAllString(rest, -1) {
		if _, known := series[name]; !known && !slices.Contains(promqlWords, name) {
			problems = append(problems, "there is no metric "+name)
		}
	}
	return problems
}

// seriesLabels returns the labels of all series that may be asked for, by name.
func seriesLabels() map[string][]string {
	series := map[string][]string{}
	maps.Copy(series, foreign)
	for _, m := range observe.MetricNames() {
		if m.Type != "histogram" {
			series[m.Name] = m.Labels
			continue
		}
		series[m.Name+"_bucket"] = append([]string{"le"}, m.Labels...)
		series[m.Name+"_sum"], series[m.Name+"_count"] = m.Labels, m.Labels
	}
	return series
}
