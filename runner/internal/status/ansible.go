package status

import "github.com/chartbook-operator/chartbook/runner/internal/engine"

// The conditions of ansible-operator.
const (
	typeRunning    = "Running"
	typeSuccessful = "Successful"
	typeFailure    = "Failure"
)

// Their messages.
const (
	messageRunning   = "Running reconciliation"
	messageAwaiting  = "Awaiting next reconciliation"
	messageSucceeded = "Last reconciliation succeeded"
	messageFailed    = "Last reconciliation failed"
	messageUnable    = "Unable to run reconciliation"

	messageReleased    = "The resource does not match the selector any more and was cleaned up after"
	messageInterrupted = "The run was interrupted and is repeated"
)

// ansible writes the conditions of ansible-operator.
func (d *draft) ansible() {
	switch d.in.Phase {
	case Running:
		d.ansibleRunning()
	case Done:
		d.ansibleDone()
	case Errored:
		d.ansibleFailed(messageUnable+": "+d.cause(), false)
	case Refused:
		d.ansibleFailed(d.cause(), false)
	case Pending, Paused: // the old tool knew neither
	}
}

func (d *draft) ansibleRunning() {
	d.after.set(condition{kind: typeRunning, status: isTrue, reason: reasonRunning, message: messageRunning})
	d.flip(typeSuccessful, reasonRunning, messageRunning)
}

func (d *draft) ansibleDone() {
	result := d.in.Result
	switch {
	case result.Outcome.OK() && d.in.Released:
		d.flip(typeRunning, ReasonReleased, messageReleased)
		d.flip(typeSuccessful, ReasonReleased, messageReleased)
	case result.Outcome.OK():
		d.after.setUnlessSame(condition{kind: typeRunning, status: isTrue, reason: reasonSuccessful,
			message: messageAwaiting, result: ansibleResult(result.Stats)})
		d.after.setUnlessSame(condition{kind: typeSuccessful, status: isTrue, reason: reasonSuccessful,
			message: messageSucceeded})
		d.after.set(condition{kind: typeFailure, status: isFalse})
	case result.Outcome == engine.Waiting:
		// The old tool had no word for this; requeue_after left the conditions of a run in progress.
		d.ansibleRunning()
	case result.Outcome == engine.Cancelled:
		for _, kind := range []string{typeRunning, typeSuccessful} {
			d.flip(kind, ReasonInterrupted, messageInterrupted)
		}
	default:
		d.ansibleFailed(d.cause(), true)
	}
}

// ansibleFailed is for a run that failed, and for one that could not be started (ran is false).
func (d *draft) ansibleFailed(message string, ran bool) {
	d.flip(typeRunning, reasonFailed, messageFailed)
	failed := condition{kind: typeFailure, status: isTrue, reason: reasonFailed, message: d.message(message)}
	if ran {
		d.after.set(condition{kind: typeSuccessful, status: isFalse})
		failed.result = ansibleResult(d.in.Result.Stats)
	} else {
		d.flip(typeSuccessful, "", "")
	}
	d.after.set(failed)
}

// flip turns a condition that is there to False, and gives it a reason that fits. (The old tool kept the reason, which
// then said the opposite.) What is False for another reason than a run in progress stays.
func (d *draft) flip(kind, reason, message string) {
	if d.after.status(kind) == isTrue || d.after.reason(kind) == reasonRunning {
		d.after.set(condition{kind: kind, status: isFalse, reason: reason, message: message})
	}
}

// completionLayout is how ansible-operator writes a time: no zeros at the end of the fraction, zone by digits.
const completionLayout = "2006-01-02T15:04:05.999999+00:00"

func ansibleResult(stats *engine.Stats) map[string]any {
	if stats == nil {
		return nil
	}
	return map[string]any{
		"ok": int64(stats.OK), "changed": int64(stats.Changed), "skipped": int64(stats.Skipped),
		"failures": int64(stats.Failures), "completion": stats.Completed.UTC().Format(completionLayout),
	}
}
