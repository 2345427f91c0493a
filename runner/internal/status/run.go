package status

import (
	"maps"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Record is what a status remembers of the runs before, for those who decide on the next.
type Record struct {
	// ObservedGeneration is that of the last run that ended by itself, or of a refusal. Zero if unknown.
	ObservedGeneration int64
	// InProgress says that a run was in progress at the last write. If no run of this process is, it was interrupted.
	InProgress bool
	// Retrying says that the last run failed, waits or was interrupted, and is to be repeated.
	Retrying bool
	// Stalled says that the last run failed for good, or was refused.
	Stalled bool
	// Ready says that the last run did what the resource asks for.
	Ready bool
	// RunID, Outcome, Reason, Attempt and Request are those of the last run that was recorded.
	RunID   string
	Outcome engine.Outcome
	Reason  string
	Attempt int
	Request string
	// Inputs is the digest of what the last good run was made from, Finished when it ended; empty if unknown.
	Inputs   string
	Finished time.Time
	// Schedules are the times of schedules that were granted last, by name.
	Schedules map[string]time.Time
}

// Read returns what status remembers. Nil and foreign statuses remember nothing.
func Read(status map[string]any) Record {
	c := newConditions(status, time.Time{})
	run := object(status["run"])
	attempt, _ := run["attempt"].(int64)
	observed, _ := status["observedGeneration"].(int64)
	reconciling := c.status(typeReconciling) == isTrue
	return Record{
		ObservedGeneration: observed,
		InProgress:         reconciling && c.reason(typeReconciling) == ReasonInProgress,
		Retrying:           reconciling && c.reason(typeReconciling) != ReasonInProgress,
		Stalled:            c.status(typeStalled) == isTrue,
		Ready:              c.status(typeReady) == isTrue,
		RunID:              field(run, "id"),
		Outcome:            engine.Outcome(field(run, "outcome")),
		Reason:             field(run, "reason"),
		Attempt:            int(attempt),
		Request:            field(run, "request"),
		Inputs:             field(run, "inputs"),
		Finished:           moment(run, "finished"),
		Schedules:          schedules(run),
	}
}

func schedules(run any) map[string]time.Time {
	granted := object(object(run)["schedules"])
	if len(granted) == 0 {
		return nil
	}
	times := make(map[string]time.Time, len(granted))
	for name := range granted {
		times[name] = moment(granted, name)
	}
	return times
}

// moment reads a time; zero if there is none.
func moment(from any, key string) time.Time {
	t, err := time.Parse(time.RFC3339, field(from, key))
	if err != nil {
		return time.Time{}
	}
	return t
}

// kept are the parts of the record of a run that are worth a write of their own: what was granted, and from what a good
// run was made. That another run took place is not.
var kept = []string{"request", "inputs", "schedules"}

// same reports whether two statuses differ in nothing that is worth a write.
func same(prev, next map[string]any) bool {
	const key = "run"
	was, is := maps.Clone(prev), maps.Clone(next)
	delete(was, key)
	delete(is, key)
	for _, part := range kept {
		if !reflect.DeepEqual(object(prev[key])[part], object(next[key])[part]) {
			return false
		}
	}
	return len(was) == 0 && len(is) == 0 || reflect.DeepEqual(was, is)
}

// record notes the run that ended, if something is to be written.
func (d *draft) record() {
	if d.in.Phase != Done || d.in.Result.Outcome == engine.Cancelled {
		return
	}
	run := map[string]any{"id": d.in.RunID, "trigger": string(d.in.Trigger), "outcome": string(d.in.Result.Outcome)}
	put(run, "reason", d.verdict.reason, d.in.Result.Outcome.OK())
	put(run, "started", stamp(d.in.Result.Started), d.in.Result.Started.IsZero())
	put(run, "finished", stamp(d.in.Result.Finished), d.in.Result.Finished.IsZero())
	put(run, "attempt", int64(d.in.Attempt), d.in.Attempt <= 0 || d.in.Result.Outcome.OK())
	put(run, "inputs", d.in.Inputs, d.in.Inputs == "" || !d.in.Result.Outcome.OK())
	d.carry(run)
	was := d.next["run"]
	if d.next["run"] = run; same(d.prev, d.next) {
		put(d.next, "run", was, was == nil)
	}
}

// carry takes over what was granted before, and adds what is granted now.
func (d *draft) carry(run map[string]any) {
	was := object(d.prev["run"])
	request := d.in.Request
	if request == "" {
		request = field(was, "request")
	}
	put(run, "request", request, request == "")
	granted := maps.Clone(object(was["schedules"]))
	if d.in.Schedule != "" {
		if granted == nil {
			granted = map[string]any{}
		}
		granted[d.in.Schedule] = stamp(d.in.ScheduledFor)
	}
	put(run, "schedules", granted, len(granted) == 0)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// clone copies a status, so that none of it is shared with the caller's.
func clone(status map[string]any) map[string]any {
	if status == nil {
		return map[string]any{}
	}
	return runtime.DeepCopyJSON(status)
}
