package main

import (
	"sync"
	"time"
)

// run is one run as the operator's log tells it.
type run struct {
	ID, Kind, Namespace, Name string
	Trigger, Outcome, Reason  string
	Duration                  time.Duration

	seq int // counts the runs of all samples, from 1
}

// succeeded reports whether the run did what it was for.
func (r run) succeeded() bool { return r.Outcome == "Succeeded" || r.Outcome == "Changed" }

// runLog remembers the last run of each resource, and how many came to what. It is safe for use by several goroutines.
type runLog struct {
	mu       sync.Mutex
	lastRuns map[string]run // by sample id
	outcomes map[string]int
	total    int
	spent    time.Duration
	changed  func(id string)
}

func newRunLog() *runLog {
	return &runLog{lastRuns: map[string]run{}, outcomes: map[string]int{}, changed: func(string) {}}
}

// onChange has fn called after each run.
func (l *runLog) onChange(fn func(id string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed = fn
}

// add remembers a run.
func (l *runLog) add(r run) {
	l.mu.Lock()
	l.total++
	l.spent += r.Duration
	l.outcomes[r.Outcome]++
	r.seq = l.total
	id := sampleID(r.Kind, r.Name)
	l.lastRuns[id] = r
	changed := l.changed
	l.mu.Unlock()
	changed(id)
}

// last returns the last run of a sample, the zero run if there was none.
func (l *runLog) last(id string) run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastRuns[id]
}
