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
	}
}

// same reports whether two statuses differ in nothing that is worth a write. That another run took place is not; that a
// request was granted is.
func same(prev, next map[string]any) bool {
	const key = "run"
	was, is := maps.Clone(prev), maps.Clone(next)
	delete(was, key)
	delete(is, key)
	return field(prev[key], "request") == field(next[key], "request") &&
		(len(was) == 0 && len(is) == 0 || reflect.DeepEqual(was, is))
}

// record notes the run that ended, if something else is to be written or a request was granted.
func (d *draft) record() {
	if d.in.Phase != Done || d.in.Result.Outcome == engine.Cancelled {
		return
	}
	was := d.prev["run"]
	if same(d.prev, d.next) && (d.in.Request == "" || d.in.Request == field(was, "request")) {
		return
	}
	run := map[string]any{"id": d.in.RunID, "trigger": string(d.in.Trigger), "outcome": string(d.in.Result.Outcome)}
	put(run, "reason", d.verdict.reason, d.in.Result.Outcome.OK())
	put(run, "started", stamp(d.in.Result.Started), d.in.Result.Started.IsZero())
	put(run, "finished", stamp(d.in.Result.Finished), d.in.Result.Finished.IsZero())
	put(run, "attempt", int64(d.in.Attempt), d.in.Attempt <= 0 || d.in.Result.Outcome.OK())
	request := d.in.Request
	if request == "" {
		request = field(was, "request")
	}
	put(run, "request", request, request == "")
	d.next["run"] = run
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// clone copies a status, so that none of it is shared with the caller's.
func clone(status map[string]any) map[string]any {
	if status == nil {
		return map[string]any{}
	}
	return runtime.DeepCopyJSON(status)
}
