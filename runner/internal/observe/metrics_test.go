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
	registry.MustRegister(Zygotes(func() (int, int64) { return 0, 0 }))
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

// Covers AO 10.1 no. 5, UP A12, E6, F10.
func TestRunMetrics(t *testing.T) {
	m, registry := newMetrics(t)
	m.AddWatch(sample)
	ended := m.RunStarted(sample)
	if got := gather(t, registry)["chartbook_runs_in_progress{kind=Sample.v1alpha1.demo.example.com}"]; got != 1 {
		t.Errorf("%v runs in progress, want 1", got)
	}
	ended()
	m.RunEnded(sample, Run{Result: took(5*time.Second, engine.Result{Outcome: engine.Changed, APIRequests: 7, Processes: 2, MaxRSSBytes: 100 << 20})})
	m.Waited(sample, engine.TriggerSpec, 3*time.Second)
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
		"chartbook_run_memory_bytes{" + kind + "} sum":                    100 << 20,
		"chartbook_run_memory_bytes{" + kind + "} count":                  1, // not those without a process
		"chartbook_queue_wait_seconds{" + kind + ";trigger=spec} sum":     3,
		"chartbook_queue_wait_seconds{" + kind + ";trigger=period} count": 0,
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

// What could not begin was counted as failed by the old tool too, and has no duration.
func TestRunsThatCouldNotBegin(t *testing.T) {
	m, registry := newMetrics(t)
	m.AddWatch(sample)
	m.NotStarted(sample, engine.Job{Owner: engine.Owner{Name: "a"}})
	got := gather(t, registry)
	for name, want := range map[string]float64{
		"chartbook_runs_total{kind=Sample.v1alpha1.demo.example.com;outcome=NotStarted}":              1,
		"ansible_operator_reconcile_result{GVK=demo.example.com/v1alpha1, Kind=Sample;result=failed}": 1,
		"chartbook_run_duration_seconds{kind=Sample.v1alpha1.demo.example.com} count":                 0,
		"chartbook_resources_failing{kind=Sample.v1alpha1.demo.example.com;state=retrying}":           1,
	} {
		if value, there := got[name]; !there || value != want {
			t.Errorf("%s is %v (there: %v), want %v", name, value, there, want)
		}
	}
}

func TestFailingResources(t *testing.T) {
	m, registry := newMetrics(t)
	m.AddWatch(sample)
	run := func(name string, mode engine.Mode, outcome engine.Outcome) {
		m.RunEnded(sample, Run{Job: engine.Job{Mode: mode, Owner: engine.Owner{Namespace: "n", Name: name}}, Result: engine.Result{Outcome: outcome}})
	}
	for _, step := range []struct {
		reason            string
		do                func()
		retrying, stalled float64
	}{
		{"nothing has run", func() {}, 0, 0},
		{"a failure is retried", func() { run("a", engine.Reconcile, engine.Transient) }, 1, 0},
		{"the same resource counts once", func() { run("a", engine.Reconcile, engine.TimedOut) }, 1, 0},
		{"another one, for good", func() { run("b", engine.Reconcile, engine.Permanent) }, 1, 1},
		{"a run that was cut off says nothing", func() { run("b", engine.Reconcile, engine.Cancelled) }, 1, 1},
		{"a retry may find that it is for good", func() { run("a", engine.Reconcile, engine.Permanent) }, 0, 2},
		{"a finalizer is always repeated", func() { run("b", engine.Finalize, engine.Permanent) }, 1, 1},
		{"success ends it", func() { run("a", engine.Reconcile, engine.Succeeded) }, 1, 0},
		{"and so does the end of the resource", func() { m.DropCreated(sample, "n", "b") }, 0, 0},
	} {
		step.do()
		got := gather(t, registry)
		for state, want := range map[string]float64{"retrying": step.retrying, "stalled": step.stalled} {
			if n := got["chartbook_resources_failing{kind=Sample.v1alpha1.demo.example.com;state="+state+"}"]; n != want {
				t.Errorf("%s: %v resources are %s, want %v", step.reason, n, state, want)
			}
		}
	}
	if len(m.failing.states) != 0 {
		t.Errorf("names of resources are left in memory: %v", m.failing.states)
	}
}

// TestLabelsAreBounded keeps names of resources out of metrics: but for one, which goes with its resource, no label has
// values that users make.
func TestLabelsAreBounded(t *testing.T) {
	bounded := map[string]bool{"kind": true, "outcome": true, "trigger": true, "state": true, "GVK": true, "result": true, "commit": true, "version": true,
		"executor": true, "reason": true, "path": true}
	for _, m := range MetricNames() {
		for _, label := range m.Labels {
			if m.Name != "resource_created_at_seconds" && !bounded[label] {
				t.Errorf("metric %s has the label %s", m.Name, label)
			}
		}
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
