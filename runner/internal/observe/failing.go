package observe

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// States of a resource whose last run failed.
const (
	stateRetrying = "retrying" // the run is repeated by itself
	stateStalled  = "stalled"  // it is not, before something changes
)

// failingResources counts resources whose last run failed. It remembers their names, for the metric must not have
// them.
type failingResources struct {
	gauge *prometheus.GaugeVec

	mu     sync.Mutex
	states map[failingKey]string
}

type failingKey struct {
	kind string
	name types.NamespacedName
}

func newFailingResources() *failingResources {
	return &failingResources{
		gauge:  prometheus.NewGaugeVec(prometheus.GaugeOpts(opts(failing)), labels(failing)),
		states: map[failingKey]string{},
	}
}

// add sets the counts of a kind to zero.
func (f *failingResources) add(kind string) {
	f.gauge.WithLabelValues(kind, stateRetrying)
	f.gauge.WithLabelValues(kind, stateStalled)
}

// ended takes in what a run came to. One that was cut off changes nothing.
func (f *failingResources) ended(kind string, r Run) {
	key := failingKey{kind, types.NamespacedName{Namespace: r.Job.Owner.Namespace, Name: r.Job.Owner.Name}}
	switch {
	case r.Result.Outcome == engine.Cancelled:
	case r.Result.Outcome == engine.Permanent && r.Job.Mode != engine.Finalize: // a finalizer is always repeated
		f.set(key, stateStalled)
	case r.failed():
		f.set(key, stateRetrying)
	default:
		f.set(key, "")
	}
}

// gone forgets a resource.
func (f *failingResources) gone(kind string, name types.NamespacedName) {
	f.set(failingKey{kind, name}, "")
}

// set notes the state of a resource; empty if nothing is wrong with it.
func (f *failingResources) set(key failingKey, state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.states[key]
	if before == state {
		return
	}
	if before != "" {
		f.gauge.WithLabelValues(key.kind, before).Dec()
		delete(f.states, key)
	}
	if state != "" {
		f.gauge.WithLabelValues(key.kind, state).Inc()
		f.states[key] = state
	}
}
