package controller

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// waits remember since when resources wait for their run, which the work queue does not tell.
type waits struct {
	mu    sync.Mutex
	since map[types.NamespacedName]time.Time
}

func newWaits() *waits { return &waits{since: map[types.NamespacedName]time.Time{}} }

// add notes that a resource waits since a time. Of several times the first one counts: a wait that has begun goes on,
// and a change brings forward what was due later.
func (w *waits) add(key types.NamespacedName, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, ok := w.since[key]; !ok || since.Before(before) {
		w.since[key] = since
	}
}

// take returns how long a resource has waited, and forgets it; false if that is not known.
func (w *waits) take(key types.NamespacedName, now time.Time) (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	since, ok := w.since[key]
	delete(w.since, key)
	return max(0, now.Sub(since)), ok
}

// all returns since when resources wait.
func (w *waits) all() map[types.NamespacedName]time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.since)
}
