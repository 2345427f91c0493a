package controller

import (
	"context"
	"errors"
	"time"

	"github.com/chartbook-operator/chartbook/runner/watches"
)

var errReplaced = errors.New("the time of another run has come")

// scheduleNext notes when the resource of a visit comes back for its schedules.
func (r *reconciler) scheduleNext(v *visit) {
	if len(r.Watch.Schedules) == 0 {
		return
	}
	if v.obj == nil || v.obj.GetDeletionTimestamp() != nil {
		r.notes.schedule(v.key, tick{})
		return
	}
	v.episode.dealWith(v, r.Watch.Schedules, r.Clock.Now())
	r.notes.schedule(v.key, r.nextTick(v))
}

// nextTick returns the first time of the schedules that has not been dealt with. It lies in the past if it came during a
// run, or while no operator was there.
func (r *reconciler) nextTick(v *visit) tick {
	var first tick
	for _, s := range r.Watch.Schedules {
		at := s.Next(v.episode.since(s.Name, v.record.Schedules[s.Name], r.Clock.Now()))
		if at.IsZero() { // a date that never comes, like 30 February
			continue
		}
		if first.schedule == "" || at.Before(first.at) {
			first = tick{s.Name, at}
		}
	}
	return first
}

// since returns up to when the times of a schedule have been dealt with. One that was never looked at before begins now.
func (e *episode) since(name string, recorded, now time.Time) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	if passed, ok := e.passed[name]; ok {
		return passed
	}
	if recorded.IsZero() || recorded.After(now) {
		recorded = now
	}
	e.pass(name, recorded)
	return recorded
}

func (e *episode) pass(name string, at time.Time) {
	if e.passed == nil {
		e.passed = map[string]time.Time{}
	}
	e.passed[name] = at
}

// pending takes in the time that a run is for, and returns the name of its schedule. A run that repeats one that failed is
// still for the same.
func (e *episode) pending(due tick) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if due.schedule != "" {
		e.schedule = due
	}
	return e.schedule.schedule
}

// dealWith notes that all times up to now were dealt with: of the schedule that was due, and after a run of those that pass
// over what comes during one.
func (e *episode) dealWith(v *visit, schedules []watches.Schedule, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range schedules {
		if s.Name == v.due.schedule || v.ran && s.Concurrency == watches.Forbid {
			e.pass(s.Name, now)
		}
	}
}

// replaceAt ends the run in progress when the time of a schedule comes that replaces it. The returned function ends the
// waiting.
func (r *reconciler) replaceAt(ctx context.Context, v *visit, cancel context.CancelCauseFunc) (stop func()) {
	next := tick{}
	for _, s := range r.Watch.Schedules {
		if s.Concurrency != watches.Replace || s.Name == v.due.schedule {
			continue
		}
		if at := s.Next(r.Clock.Now()); !at.IsZero() && (next.schedule == "" || at.Before(next.at)) {
			next = tick{s.Name, at}
		}
	}
	if next.schedule == "" {
		return func() {}
	}
	timer := r.Clock.NewTimer(next.at.Sub(r.Clock.Now()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-timer.C():
			cancel(errReplaced)
		case <-ctx.Done():
		}
	}()
	return func() {
		timer.Stop()
		cancel(nil)
		<-done
	}
}
