package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// executorMetrics tell in which ways playbooks are run.
type executorMetrics struct {
	runs    *prometheus.CounterVec
	modules *prometheus.CounterVec
	starts  *prometheus.CounterVec
}

func newExecutorMetrics() executorMetrics {
	m := executorMetrics{
		runs:    prometheus.NewCounterVec(prometheus.CounterOpts(opts(ansibleRuns)), labels(ansibleRuns)),
		modules: prometheus.NewCounterVec(prometheus.CounterOpts(opts(ansibleModules)), labels(ansibleModules)),
		starts:  prometheus.NewCounterVec(prometheus.CounterOpts(opts(zygoteStarts)), labels(zygoteStarts)),
	}
	for _, executor := range []string{"warm", "direct", "runner"} {
		m.runs.WithLabelValues(executor, "")
	}
	m.modules.WithLabelValues("forked")
	for _, result := range []string{startReady, startFailed} {
		m.starts.WithLabelValues(result)
	}
	return m
}

func (m executorMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.runs, m.modules, m.starts}
}

// ended takes in which way a run has taken; none for charts.
func (m executorMetrics) ended(result engine.Result) {
	if result.Executor == "" {
		return
	}
	m.runs.WithLabelValues(result.Executor, result.Fallback).Inc()
	for path, count := range result.Modules {
		m.modules.WithLabelValues(path).Add(float64(count))
	}
}

// Values of the label result of starts.
const (
	startReady  = "ready"
	startFailed = "failed"
)

// ZygoteStarted counts the start of a process that warm runs are forked from.
func (m *Metrics) ZygoteStarted(ready bool) {
	result := startFailed
	if ready {
		result = startReady
	}
	m.executors.starts.WithLabelValues(result).Inc()
}

// Zygotes are the processes that warm runs are forked from: how many, and how many bytes of memory they take. It is a
// collector that has to be registered.
type Zygotes func() (count int, resident int64)

// Describe implements [prometheus.Collector].
func (Zygotes) Describe(to chan<- *prometheus.Desc) {
	to <- zygotesDesc
	to <- zygoteMemoryDesc
}

// Collect implements [prometheus.Collector].
func (z Zygotes) Collect(to chan<- prometheus.Metric) {
	count, resident := z()
	to <- prometheus.MustNewConstMetric(zygotesDesc, prometheus.GaugeValue, float64(count))
	to <- prometheus.MustNewConstMetric(zygoteMemoryDesc, prometheus.GaugeValue, float64(resident))
}

var (
	zygotesDesc      = prometheus.NewDesc(zygotes.Name, zygotes.Meaning, zygotes.Labels, nil)
	zygoteMemoryDesc = prometheus.NewDesc(zygoteMemory.Name, zygoteMemory.Meaning, zygoteMemory.Labels, nil)
)
