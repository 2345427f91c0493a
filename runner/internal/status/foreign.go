package status

import "github.com/chartbook-operator/chartbook/runner/internal/engine"

// ownsReady reports whether the Ready condition is ours to write. A playbook may write one of its own, and knows
// better than we do when its resource is ready; it is told by a reason that we would not give.
func (d *draft) ownsReady() bool {
	ready := d.before.get(typeReady)
	if ready == nil {
		return true
	}
	reason := field(ready, "reason")
	run := object(d.prev["run"])
	return onReady[reason] || reason == field(run, "reason") ||
		reason == d.before.reason(typeReconciling) || reason == d.before.reason(typeStalled)
}

// foreignReady tells the change of our own verdict, which is in no condition then, by what status.run remembers.
func (d *draft) foreignReady() []Transition {
	if d.in.Phase != Done || d.in.Result.Outcome == engine.Cancelled {
		return nil
	}
	run := object(d.prev["run"])
	t := Transition{Type: typeReady, FromReason: field(run, "reason"),
		To: d.verdict.status, Reason: d.verdict.reason, Message: d.verdict.message}
	if outcome := engine.Outcome(field(run, "outcome")); outcome.OK() {
		t.From, t.FromReason = isTrue, ReasonSucceeded
	} else if outcome != "" {
		t.From = isFalse
	}
	if t.From == t.To && t.FromReason == t.Reason {
		return nil
	}
	return []Transition{t}
}
