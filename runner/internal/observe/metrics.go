package observe

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// WatchState is how far the watch of a kind is.
type WatchState string

// The states of a watch.
const (
	WatchWaiting WatchState = "waiting" // the kind is not served, or may not be watched
	WatchSyncing WatchState = "syncing" // its resources are being listed
	WatchWorking WatchState = "working" // changes are seen as they happen
)

var watchStates = []WatchState{WatchWaiting, WatchSyncing, WatchWorking}

var outcomes = []engine.Outcome{engine.Succeeded, engine.Changed, engine.Waiting, engine.Transient, engine.Permanent,
	engine.Cancelled, engine.TimedOut, notStarted}

// notStarted is the outcome of a run that could not even begin.
const notStarted engine.Outcome = "NotStarted"

var triggers = []engine.Trigger{engine.TriggerDeletion, engine.TriggerSpec, engine.TriggerMetadata, engine.TriggerRequest,
	engine.TriggerDependent, engine.TriggerRetry, engine.TriggerPeriod, engine.TriggerInitial}

// Build says which build of the operator runs.
type Build struct {
	Commit  string
	Version string
}

// Metrics are the operator's own metrics. It is safe for use by several goroutines.
type Metrics struct {
	results    *prometheus.GaugeVec
	reconciles *prometheus.HistogramVec
	created    *prometheus.GaugeVec
	duration   *prometheus.HistogramVec
	runs       *prometheus.CounterVec
	running    *prometheus.GaugeVec
	requests   *prometheus.CounterVec
	processes  *prometheus.CounterVec
	memory     *prometheus.HistogramVec
	waits      *prometheus.HistogramVec
	executors  executorMetrics
	failing    *failingResources
	states     *prometheus.GaugeVec
}

// durationBuckets reach from a skipped release to a play of half an hour. The first eleven are those of the old tools.
var durationBuckets = append(append([]float64(nil), prometheus.DefBuckets...), 30, 60, 120, 300, 600, 1800)

// memoryBuckets reach from a bare interpreter to what a node can give.
var memoryBuckets = prometheus.ExponentialBuckets(32<<20, 2, 8) // 32 MiB to 4 GiB

// NewMetrics makes the metrics and registers them, but for those of [Zygotes].
func NewMetrics(registerer prometheus.Registerer, build Build) (*Metrics, error) {
	m := &Metrics{
		results:    prometheus.NewGaugeVec(prometheus.GaugeOpts(opts(oldResult)), labels(oldResult)),
		reconciles: prometheus.NewHistogramVec(histogram(oldReconciles, durationBuckets), labels(oldReconciles)),
		created:    prometheus.NewGaugeVec(prometheus.GaugeOpts(opts(oldCreated)), labels(oldCreated)),
		duration:   prometheus.NewHistogramVec(histogram(runDuration, durationBuckets), labels(runDuration)),
		runs:       prometheus.NewCounterVec(prometheus.CounterOpts(opts(runsTotal)), labels(runsTotal)),
		running:    prometheus.NewGaugeVec(prometheus.GaugeOpts(opts(runsInProgress)), labels(runsInProgress)),
		requests:   prometheus.NewCounterVec(prometheus.CounterOpts(opts(runRequests)), labels(runRequests)),
		processes:  prometheus.NewCounterVec(prometheus.CounterOpts(opts(runProcesses)), labels(runProcesses)),
		memory:     prometheus.NewHistogramVec(histogram(runMemory, memoryBuckets), labels(runMemory)),
		waits:      prometheus.NewHistogramVec(histogram(queueWait, durationBuckets), labels(queueWait)),
		executors:  newExecutorMetrics(),
		failing:    newFailingResources(),
		states:     prometheus.NewGaugeVec(prometheus.GaugeOpts(opts(watchState)), labels(watchState)),
	}
	collectors := []prometheus.Collector{m.results, m.reconciles, m.created, m.duration, m.runs, m.running, m.requests,
		m.processes, m.memory, m.waits, m.failing.gauge, m.states, info(oldAnsibleBuild, build), info(oldHelmBuild, build), info(buildInfo, build)}
	for _, c := range append(collectors, m.executors.collectors()...) {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("register the operator's metrics: %w", err)
		}
	}
	return m, nil
}

// AddWatch sets the metrics of a kind to zero, so that they are there before the first run.
func (m *Metrics) AddWatch(gvk schema.GroupVersionKind) {
	kind, old := kindLabel(gvk), oldKindLabel(gvk)
	for _, outcome := range outcomes {
		m.runs.WithLabelValues(kind, string(outcome))
	}
	m.running.WithLabelValues(kind)
	m.duration.WithLabelValues(kind)
	m.requests.WithLabelValues(kind)
	m.processes.WithLabelValues(kind)
	m.memory.WithLabelValues(kind)
	for _, trigger := range triggers {
		m.waits.WithLabelValues(kind, string(trigger))
	}
	m.failing.add(kind)
	m.reconciles.WithLabelValues(old)
	m.results.WithLabelValues(old, resultSucceeded)
	m.results.WithLabelValues(old, resultFailed)
	m.SetWatchState(gvk, WatchWaiting)
}

// SetWatchState says how far the watch of a kind is.
func (m *Metrics) SetWatchState(gvk schema.GroupVersionKind, state WatchState) {
	for _, s := range watchStates {
		value := 0.0
		if s == state {
			value = 1
		}
		m.states.WithLabelValues(kindLabel(gvk), string(s)).Set(value)
	}
}

// RunStarted counts a run in progress until the returned function is called, once.
func (m *Metrics) RunStarted(gvk schema.GroupVersionKind) (ended func()) {
	running := m.running.WithLabelValues(kindLabel(gvk))
	running.Inc()
	return running.Dec
}

// Waited notes how long a resource waited for its run.
func (m *Metrics) Waited(gvk schema.GroupVersionKind, trigger engine.Trigger, wait time.Duration) {
	m.waits.WithLabelValues(kindLabel(gvk), string(trigger)).Observe(wait.Seconds())
}

// RunEnded counts a run that has ended.
func (m *Metrics) RunEnded(gvk schema.GroupVersionKind, r Run) {
	kind, old := kindLabel(gvk), oldKindLabel(gvk)
	m.runs.WithLabelValues(kind, string(r.Result.Outcome)).Inc()
	m.duration.WithLabelValues(kind).Observe(r.duration().Seconds())
	m.requests.WithLabelValues(kind).Add(float64(r.Result.APIRequests))
	m.processes.WithLabelValues(kind).Add(float64(r.Result.Processes))
	if r.Result.MaxRSSBytes > 0 {
		m.memory.WithLabelValues(kind).Observe(float64(r.Result.MaxRSSBytes))
	}
	m.reconciles.WithLabelValues(old).Observe(r.duration().Seconds())
	switch {
	case r.Result.Outcome.OK():
		m.results.WithLabelValues(old, resultSucceeded).Inc()
	case r.failed():
		m.results.WithLabelValues(old, resultFailed).Inc()
	}
	m.executors.ended(r.Result)
	m.failing.ended(kind, r)
}

// NotStarted counts a run that could not begin.
func (m *Metrics) NotStarted(gvk schema.GroupVersionKind, job engine.Job) {
	m.runs.WithLabelValues(kindLabel(gvk), string(notStarted)).Inc()
	m.results.WithLabelValues(oldKindLabel(gvk), resultFailed).Inc()
	m.failing.ended(kindLabel(gvk), Run{Job: job, Result: engine.Result{Outcome: engine.Transient}})
}

// SetCreated notes when a resource was created.
func (m *Metrics) SetCreated(gvk schema.GroupVersionKind, namespace, name string, created time.Time) {
	m.created.WithLabelValues(name, namespace, gvk.Group, gvk.Version, gvk.Kind).Set(float64(created.Unix()))
}

// DropCreated forgets a resource that is gone.
func (m *Metrics) DropCreated(gvk schema.GroupVersionKind, namespace, name string) {
	m.failing.gone(kindLabel(gvk), types.NamespacedName{Namespace: namespace, Name: name})
	m.created.DeleteLabelValues(name, namespace, gvk.Group, gvk.Version, gvk.Kind)
}

// kindLabel names a kind as kubectl does: Sample.v1alpha1.demo.example.com, or Secret.v1 of the core group.
func kindLabel(gvk schema.GroupVersionKind) string {
	return strings.TrimSuffix(gvk.Kind+"."+gvk.Version+"."+gvk.Group, ".")
}

// oldKindLabel names a kind as ansible-operator does: demo.example.com/v1alpha1, Kind=Sample.
func oldKindLabel(gvk schema.GroupVersionKind) string { return gvk.String() }
