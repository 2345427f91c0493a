package observe

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

var sample = schema.GroupVersionKind{Group: "demo.example.com", Version: "v1alpha1", Kind: "Sample"}

func newMetrics(t *testing.T) (*Metrics, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	m, err := NewMetrics(registry, Build{Commit: "abc", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	return m, registry
}

// gather returns the values of all series: of histograms the sum and the count.
func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			var pairs []string
			for _, label := range series.GetLabel() {
				pairs = append(pairs, label.GetName()+"="+label.GetValue())
			}
			name := family.GetName() + "{" + strings.Join(pairs, ";") + "}"
			put(values, name, series)
		}
	}
	return values
}

func put(values map[string]float64, name string, series *dto.Metric) {
	switch {
	case series.GetGauge() != nil:
		values[name] = series.GetGauge().GetValue()
	case series.GetCounter() != nil:
		values[name] = series.GetCounter().GetValue()
	default:
		values[name+" sum"] = series.GetHistogram().GetSampleSum()
		values[name+" count"] = float64(series.GetHistogram().GetSampleCount())
	}
}

func TestMetricsAreThereFromTheStart(t *testing.T) {
	m, registry := newMetrics(t)
	m.AddWatch(sample)
	m.SetCreated(sample, "n", "a", start)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	type described struct {
		Name, Type string
		Labels     []string
	}
	var got, want []described
	for _, family := range families {
		var names []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			names = append(names, label.GetName())
		}
		slices.Sort(names)
		got = append(got, described{family.GetName(), strings.ToLower(family.GetType().String()), names})
	}
	for _, m := range MetricNames() {
		names := slices.Sorted(slices.Values(m.Labels))
		want = append(want, described{m.Name, m.Type, names})
	}
	byName := func(a, b described) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(want, byName)
	slices.SortFunc(got, byName)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics against the list (-want +got):\n%s", diff)
	}
}

func TestRunMetrics(t *testing.T) {
	m, registry := newMetrics(t)
	m.AddWatch(sample)
	ended := m.RunStarted(sample)
	if got := gather(t, registry)["chartbook_runs_in_progress{kind=Sample.v1alpha1.demo.example.com}"]; got != 1 {
		t.Errorf("%v runs in progress, want 1", got)
	}
	ended()
	m.RunEnded(sample, Run{Result: took(5*time.Second, engine.Result{Outcome: engine.Changed, APIRequests: 7, Processes: 2})})
	m.RunEnded(sample, Run{Result: took(time.Second, engine.Result{Outcome: engine.TimedOut})})
	m.RunEnded(sample, Run{Result: took(time.Second, engine.Result{Outcome: engine.Waiting})})
	const kind, old = "kind=Sample.v1alpha1.demo.example.com", "GVK=demo.example.com/v1alpha1, Kind=Sample"
	got := gather(t, registry)
	for name, want := range map[string]float64{
		"chartbook_runs_in_progress{" + kind + "}":                        0,
		"chartbook_runs_total{" + kind + ";outcome=Changed}":              1,
		"chartbook_runs_total{" + kind + ";outcome=TimedOut}":             1,
		"chartbook_runs_total{" + kind + ";outcome=Succeeded}":            0,
		"chartbook_run_duration_seconds{" + kind + "} sum":                7,
		"chartbook_run_api_requests_total{" + kind + "}":                  7,
		"chartbook_run_processes_total{" + kind + "}":                     2,
		"ansible_operator_reconciles{" + old + "} sum":                    7, // the old tool measured the fork only
		"ansible_operator_reconciles{" + old + "} count":                  3,
		"ansible_operator_reconcile_result{" + old + ";result=succeeded}": 1,
		"ansible_operator_reconcile_result{" + old + ";result=failed}":    1, // waiting is neither
		"chartbook_watch_state{" + kind + ";state=waiting}":               1,
		"chartbook_watch_state{" + kind + ";state=working}":               0,
		"ansible_operator_build_info{commit=abc;version=v1}":              1,
		"helm_operator_build_info{commit=abc;version=v1}":                 1,
	} {
		if value, there := got[name]; !there || value != want {
			t.Errorf("%s is %v (there: %v), want %v", name, value, there, want)
		}
	}
}

func TestCreatedMetricGoesWithTheResource(t *testing.T) {
	m, registry := newMetrics(t)
	const name = "resource_created_at_seconds{group=demo.example.com;kind=Sample;name=a;namespace=n;version=v1alpha1}"
	m.SetCreated(sample, "n", "a", start)
	if got := gather(t, registry)[name]; got != float64(start.Unix()) {
		t.Errorf("%s is %v, want %v", name, got, start.Unix())
	}
	m.DropCreated(sample, "n", "a")
	if _, there := gather(t, registry)[name]; there {
		t.Errorf("%s is still there", name)
	}
}

func TestWatchStates(t *testing.T) {
	m, registry := newMetrics(t)
	secret := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	m.AddWatch(secret)
	m.SetWatchState(secret, WatchWorking)
	got := gather(t, registry)
	for state, want := range map[WatchState]float64{WatchWaiting: 0, WatchSyncing: 0, WatchWorking: 1} {
		if value := got["chartbook_watch_state{kind=Secret.v1;state="+string(state)+"}"]; value != want {
			t.Errorf("state %s is %v, want %v", state, value, want)
		}
	}
}

func TestMetricsRegisterOnce(t *testing.T) {
	_, registry := newMetrics(t)
	if _, err := NewMetrics(registry, Build{}); err == nil {
		t.Errorf("the same metrics were registered twice")
	}
}
