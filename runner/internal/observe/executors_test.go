package observe

import (
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func TestExecutorMetrics(t *testing.T) {
	m, registry := newMetrics(t)
	registry.MustRegister(Zygotes(func() (int, int64) { return 2, 150 << 20 }))
	for _, result := range []engine.Result{
		{Executor: "warm", Modules: map[string]int{"forked": 3, "async": 1}},
		{Executor: "warm", Modules: map[string]int{"forked": 2}},
		{Executor: "direct", Fallback: "starting"},
		{Release: &engine.Release{}},
	} {
		m.RunEnded(sample, Run{Result: took(time.Second, result)})
	}
	m.ZygoteStarted(true)
	m.ZygoteStarted(false)
	m.ZygoteStarted(false)
	got := gather(t, registry)
	for name, want := range map[string]float64{
		"chartbook_ansible_runs_total{executor=warm;reason=}":           2,
		"chartbook_ansible_runs_total{executor=direct;reason=starting}": 1,
		"chartbook_ansible_runs_total{executor=direct;reason=}":         0,
		"chartbook_ansible_runs_total{executor=runner;reason=}":         0,
		"chartbook_ansible_modules_total{path=forked}":                  5,
		"chartbook_ansible_modules_total{path=async}":                   1,
		"chartbook_warm_zygote_starts_total{result=ready}":              1,
		"chartbook_warm_zygote_starts_total{result=failed}":             2,
		"chartbook_warm_zygotes{}":                                      2,
		"chartbook_warm_zygote_resident_bytes{}":                        150 << 20,
	} {
		if value, there := got[name]; !there || value != want {
			t.Errorf("%s is %v (there: %v), want %v", name, value, there, want)
		}
	}
}
