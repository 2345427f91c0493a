package enginetest

import (
	"slices"
	"sync"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// recorder keeps the events of one run and notices those that come too late.
type recorder struct {
	mu     sync.Mutex
	events []engine.Event
	closed bool
	late   []engine.Event
	first  chan struct{} // closed at the first event
}

func (r *recorder) add(event engine.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		r.late = append(r.late, event)
		return
	}
	if len(r.events) == 0 {
		close(r.first)
	}
	r.events = append(r.events, event)
}

// close returns the events so far; a nil recorder has none.
func (r *recorder) close() []engine.Event {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return slices.Clone(r.events)
}

// recorders are those of one subtest.
type recorders struct {
	mu  sync.Mutex
	all []*recorder
}

func (r *recorders) add() *recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := &recorder{first: make(chan struct{})}
	r.all = append(r.all, rec)
	return rec
}

func (r *recorders) late() []engine.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var events []engine.Event
	for _, rec := range r.all {
		rec.mu.Lock()
		events = append(events, rec.late...)
		rec.mu.Unlock()
	}
	return events
}
