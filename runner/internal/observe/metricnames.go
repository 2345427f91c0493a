package observe

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Metric describes one metric.
type Metric struct {
	Name    string
	Type    string // gauge, counter or histogram
	Labels  []string
	Meaning string // one sentence
}

// The metrics of the old tools, under their names.
var (
	oldAnsibleBuild = Metric{"ansible_operator_build_info", "gauge", []string{"commit", "version"}, "Always 1, with the operator's build in the labels."}
	oldHelmBuild    = Metric{"helm_operator_build_info", "gauge", []string{"commit", "version"}, "Always 1, with the operator's build in the labels."}
	oldResult       = Metric{"ansible_operator_reconcile_result", "gauge", []string{"GVK", "result"}, "Runs that succeeded or failed, managed status or not."}
	oldReconciles   = Metric{"ansible_operator_reconciles", "histogram", []string{"GVK"}, "How long runs took, in seconds, from start to end."}
	oldCreated      = Metric{"resource_created_at_seconds", "gauge", []string{"name", "namespace", "group", "version", "kind"}, "When the resource was created, in seconds since 1970."}
)

// Our own metrics.
var (
	buildInfo      = Metric{"chartbook_build_info", "gauge", []string{"commit", "version"}, "Always 1, with the operator's build in the labels."}
	runDuration    = Metric{"chartbook_run_duration_seconds", "histogram", []string{"kind"}, "How long runs took."}
	runsTotal      = Metric{"chartbook_runs_total", "counter", []string{"kind", "outcome"}, "Runs that have ended, by outcome."}
	runsInProgress = Metric{"chartbook_runs_in_progress", "gauge", []string{"kind"}, "Runs that have started and not ended."}
	runRequests    = Metric{"chartbook_run_api_requests_total", "counter", []string{"kind"}, "Requests that runs sent to the API server."}
	runProcesses   = Metric{"chartbook_run_processes_total", "counter", []string{"kind"}, "Child processes that runs started."}
	runMemory      = Metric{"chartbook_run_memory_bytes", "histogram", []string{"kind"}, "Largest resident memory of a child process of a run."}
	queueWait      = Metric{"chartbook_queue_wait_seconds", "histogram", []string{"kind", "trigger"}, "How long resources waited for their run, from the change that asked for it or the time at which it was due."}
	ansibleRuns    = Metric{"chartbook_ansible_runs_total", "counter", []string{"executor", "reason"}, "Runs of playbooks that have ended, by what ran them, and why that is not what was asked for."}
	ansibleModules = Metric{"chartbook_ansible_modules_total", "counter", []string{"path"}, "Modules that warm runs have executed: forked, or why one was a process of its own."}
	zygotes        = Metric{"chartbook_warm_zygotes", "gauge", nil, "Processes that warm runs are forked from."}
	zygoteStarts   = Metric{"chartbook_warm_zygote_starts_total", "counter", []string{"result"}, "Starts of such processes, by result (ready, failed)."}
	zygoteMemory   = Metric{"chartbook_warm_zygote_resident_bytes", "gauge", nil, "Resident memory of such processes; what they share counts several times."}
	failing        = Metric{"chartbook_resources_failing", "gauge", []string{"kind", "state"}, "Resources whose last run failed, by what follows (retrying, stalled)."}
	watchState     = Metric{"chartbook_watch_state", "gauge", []string{"kind", "state"}, "1 for the state that the watch of a kind is in (waiting, syncing, working), 0 for the others."}
)

// Values of the label result.
const (
	resultSucceeded = "succeeded"
	resultFailed    = "failed"
)

// MetricNames returns the closed list of the operator's own metrics. Those of controller-runtime come beside them.
func MetricNames() []Metric {
	return []Metric{oldAnsibleBuild, oldHelmBuild, oldResult, oldReconciles, oldCreated,
		buildInfo, runDuration, runsTotal, runsInProgress, runRequests, runProcesses,
		runMemory, ansibleRuns, ansibleModules, zygotes, zygoteStarts, zygoteMemory, queueWait, failing, watchState}
}

func opts(m Metric) prometheus.Opts { return prometheus.Opts{Name: m.Name, Help: m.Meaning} }

func histogram(m Metric, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Name: m.Name, Help: m.Meaning, Buckets: buckets}
}

func labels(m Metric) []string { return m.Labels }

// info returns a metric that is always 1.
func info(m Metric, build Build) prometheus.Collector {
	o := opts(m)
	o.ConstLabels = prometheus.Labels{"commit": build.Commit, "version": build.Version}
	gauge := prometheus.NewGauge(prometheus.GaugeOpts(o))
	gauge.Set(1)
	return gauge
}
