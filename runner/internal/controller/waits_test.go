package controller

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Covers UP A12.
func TestWaits(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	key := types.NamespacedName{Namespace: "n", Name: "a"}
	for name, c := range map[string]struct {
		reason string
		added  []int // seconds
		taken  int
		want   time.Duration
		known  bool
	}{
		"Unknown": {"an error of the controller's own brings a resource back, and nobody knows when it was due", nil, 5, 0, false},
		"Change":  {"from the change to the run", []int{1}, 5, 4 * time.Second, true},
		"Changes": {"the first of several changes has waited longest", []int{1, 3}, 5, 4 * time.Second, true},
		"Period":  {"before its time nothing waits", []int{10}, 12, 2 * time.Second, true},
		"Sooner":  {"a change comes before the period is over", []int{100, 3}, 5, 2 * time.Second, true},
		"Early":   {"clocks differ; no wait is negative", []int{10}, 9, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWaits()
			for _, seconds := range c.added {
				w.add(key, at(seconds))
			}
			got, known := w.take(key, at(c.taken))
			if got != c.want && known || known != c.known {
				t.Errorf("%s: got %s (known: %v), want %s (%v)", c.reason, got, known, c.want, c.known)
			}
			if _, known := w.take(key, at(c.taken)); known || len(w.since) > 0 {
				t.Errorf("the wait is remembered after it has ended")
			}
		})
	}
}
