package status

import (
	"fmt"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// The conditions of kstatus. Reconciling and Stalled are there only while they are true, and never both.
const (
	typeReady       = "Ready"
	typeReconciling = "Reconciling"
	typeStalled     = "Stalled"
)

// kstatus sets Ready, Reconciling and Stalled.
func (d *draft) kstatus() {
	var activity condition // Reconciling or Stalled; without a type for neither
	switch d.in.Phase {
	case Running:
		activity = d.running()
	case Done:
		activity = d.done()
	case Errored:
		activity = d.failed(reasonOr(d.in.Reason, ReasonEngineError), true)
	case Refused:
		activity = d.failed(reasonOr(d.in.Reason, ReasonRefused), false)
	case Pending:
		reason := reasonOr(d.in.Reason, ReasonPending)
		d.judge(isFalse, reason, d.in.Message)
		activity = reconciling(reason, d.in.Message)
	case Paused:
		d.paused()
	}
	if d.ownsReady() {
		d.after.set(d.verdict)
	}
	d.activity(activity)
}

// judge sets the verdict for the resource's generation.
func (d *draft) judge(status, reason, message string) {
	if d.notes != "" {
		message = fmt.Sprintf("%s (%s)", message, d.notes)
	}
	d.verdict = condition{kind: typeReady, status: status, reason: reason,
		message: d.message(message), generation: d.in.Generation}
}

// keep leaves the verdict as it is, if it is about this generation.
func (d *draft) keep() bool {
	ready := d.before.get(typeReady)
	observed, known := ready["observedGeneration"].(int64)
	if !known {
		observed, _ = d.prev["observedGeneration"].(int64) // a strict CRD schema may have dropped that of the condition
	}
	if ready == nil || observed != d.in.Generation {
		return false
	}
	d.verdict = condition{kind: typeReady, status: field(ready, "status"), reason: field(ready, "reason"),
		message: field(ready, "message"), generation: d.in.Generation}
	return true
}

// running leaves Ready alone unless the spec changed: looking after a resource does not make it less ready.
func (d *draft) running() condition {
	const message = "Running reconciliation"
	kept := d.keep()
	failed := kept && d.verdict.status == isFalse
	switch {
	case d.in.Deleting && !failed: // a finalizer that failed keeps its reason in view
		d.judge(isFalse, ReasonDeleting, "The finalizer is at work")
	case !d.in.Deleting && !kept:
		d.judge(isUnknown, ReasonInProgress, message)
	}
	return reconciling(ReasonInProgress, fmt.Sprintf("Run %s is in progress, set off by: %s", d.in.RunID, d.in.Trigger))
}

func (d *draft) done() condition {
	result := d.in.Result
	switch {
	case result.Outcome.OK() && d.in.Released:
		d.judge(isFalse, ReasonReleased, messageReleased)
		return condition{}
	case result.Outcome.OK() && d.in.Deleting:
		d.judge(isFalse, ReasonFinalized, "The finalizer has done its work")
		return condition{}
	case result.Outcome.OK():
		d.judge(isTrue, ReasonSucceeded, d.success())
		return condition{}
	case result.Outcome == engine.Waiting:
		reason, message := reasonOr(result.Reason, ReasonWaiting), result.Message
		if message == "" {
			message = "Something is not there yet; the run is repeated"
		}
		d.judge(isFalse, reason, message)
		return reconciling(reason, message)
	case result.Outcome == engine.Cancelled:
		return d.interrupted()
	default:
		reason, _ := failure(result)
		return d.failed(reason, result.Outcome != engine.Permanent && !d.in.Exhausted)
	}
}

func (d *draft) success() string {
	if release := d.in.Result.Release; release != nil && d.in.Tool == HelmOperator {
		return fmt.Sprintf("Release %s is deployed, revision %d", release.Name, release.Version)
	}
	return "The last run succeeded"
}

// failed says that the resource is not as it should be, and whether another run may change that.
func (d *draft) failed(reason string, again bool) condition {
	message := d.cause()
	d.judge(isFalse, reason, message)
	switch {
	case again:
		return reconciling(ReasonRetrying, "The last run failed and is repeated: "+reason)
	case d.in.Deleting:
		return condition{kind: typeStalled, status: isTrue, reason: ReasonDeletionBlocked, message: message}
	default:
		return condition{kind: typeStalled, status: isTrue, reason: reason, message: message}
	}
}

// interrupted is no verdict on the resource; the run starts anew.
func (d *draft) interrupted() condition {
	if !d.keep() || d.verdict.reason == ReasonInProgress {
		d.judge(isUnknown, ReasonInterrupted, messageInterrupted)
	}
	return reconciling(ReasonInterrupted, messageInterrupted)
}

// paused keeps what is known, and says that nothing more is done about it.
func (d *draft) paused() {
	message := d.in.Message
	if message == "" {
		message = "Runs are paused"
	}
	switch {
	case !d.keep():
		d.judge(isUnknown, ReasonPaused, message)
	case d.verdict.reason == ReasonPaused:
	case d.verdict.status == isTrue:
		d.judge(isTrue, ReasonPaused, message)
	default:
		d.judge(d.verdict.status, ReasonPaused, fmt.Sprintf("%s; before: %s: %s", message, d.verdict.reason, d.verdict.message))
	}
}

func reconciling(reason, message string) condition {
	return condition{kind: typeReconciling, status: isTrue, reason: reason, message: message}
}

// activity sets the one of Reconciling and Stalled that holds, and removes the other.
func (d *draft) activity(holds condition) {
	for _, kind := range []string{typeReconciling, typeStalled} {
		if kind != holds.kind {
			d.after.remove(kind)
			continue
		}
		holds.generation = d.in.Generation
		holds.message = d.message(holds.message)
		d.after.set(holds)
	}
}
