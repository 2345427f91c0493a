package controller

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/once"
	"github.com/chartbook-operator/chartbook/runner/internal/plan"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// episode counts the failed runs of a resource since the last good one. It is lost at a restart, which is a fresh try.
type episode struct {
	uid        types.UID
	generation int64

	mu       sync.Mutex
	failures int
	refusals int // writes of the controller's own that were refused, in a row
	retry    time.Time
	good     time.Time            // when the last good run of this process ended
	schedule tick                 // whose run has not succeeded yet
	passed   map[string]time.Time // times of schedules that were dealt with, by name
	shadow   map[string]any       // status as it would be, of a watch that does not manage status
	told     *once.Texts          // what of the resource's children cannot be watched, as far as it was told
}

// episodeOf returns the episode of obj. A new spec begins a new one.
func (r *reconciler) episodeOf(obj *unstructured.Unstructured) *episode {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.episodes[keyOf(obj)]
	if e == nil || e.uid != obj.GetUID() || e.generation != generationOf(obj) {
		next := &episode{uid: obj.GetUID(), generation: generationOf(obj), told: &once.Texts{}}
		if e != nil && e.uid == next.uid {
			next.inherit(e)
		}
		e = next
		r.episodes[keyOf(obj)] = e
	}
	return e
}

// inherit takes over what a new spec does not change.
func (e *episode) inherit(old *episode) {
	old.mu.Lock()
	defer old.mu.Unlock()
	e.shadow, e.told = old.shadow, old.told
	e.good, e.schedule, e.passed = old.good, old.schedule, maps.Clone(old.passed)
}

// forget drops what is remembered of a resource that is gone.
func (r *reconciler) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.episodes, key)
}

// attempt returns the number of the run that comes next, from 1.
func (e *episode) attempt() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failures + 1
}

// ended takes in what a run came to.
func (e *episode) ended(result engine.Result, attempt int, retry watches.Retry, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case result.Outcome.OK():
		e.failures, e.refusals, e.retry, e.good, e.schedule = 0, 0, time.Time{}, now, tick{}
	case result.Outcome == engine.Waiting:
		e.failures, e.retry = 0, time.Time{}
	case result.Outcome == engine.Cancelled: // no fault of the resource's
	default:
		e.failures = attempt
		e.retry = now.Add(plan.Backoff(retry, attempt))
	}
}

// exhausted reports whether runs have failed as often as retry allows.
func (e *episode) exhausted(retry watches.Retry) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failures > 0 && plan.Exhausted(retry, e.failures)
}

// retryAt returns when a failed run may be repeated.
func (e *episode) retryAt() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.retry
}

func (e *episode) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failures, e.retry = 0, time.Time{}
}
