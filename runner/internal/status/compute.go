package status

import (
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// draft is a status in the making.
type draft struct {
	in   Input
	prev map[string]any // the status as it was; not changed
	next map[string]any

	before  *conditions
	after   *conditions
	verdict condition // what Ready says, or would say were it ours
	notes   string    // what the verdict's message has to add, about outputs
}

// Compute returns the status that follows from prev and in, and the conditions of ours that changed. prev is left
// as it is; nil means that there is no status yet. If nothing changed, the result equals prev.
func Compute(prev map[string]any, in Input) (map[string]any, []Transition) {
	d := &draft{in: in, prev: clone(prev), next: clone(prev)}
	if in.Phase == Running && in.Quiet {
		return d.next, nil
	}
	d.before, d.after = newConditions(d.prev, in.Now), newConditions(d.next, in.Now)
	d.outputs()
	d.kstatus()
	d.oldTool()
	d.observed()
	d.conditions()
	d.record()
	return d.next, d.transitions()
}

// observed notes the generation that was dealt with, whichever way.
func (d *draft) observed() {
	if d.in.Generation == 0 || !d.settled() {
		return
	}
	d.next["observedGeneration"] = d.in.Generation
}

// settled says that the phase is the answer to the resource's generation rather than a step on the way to it.
func (d *draft) settled() bool {
	switch d.in.Phase {
	case Done:
		return d.in.Result.Outcome != engine.Cancelled
	case Errored, Refused:
		return true
	default:
		return false
	}
}

func (d *draft) conditions() {
	if len(d.after.list) > 0 || d.next["conditions"] != nil {
		d.next["conditions"] = d.after.list
	}
}

func (d *draft) oldTool() {
	switch d.in.Tool {
	case AnsibleOperator:
		d.ansible()
	case HelmOperator:
		d.helm()
	}
}

func (d *draft) transitions() []Transition {
	kinds := []string{typeReady, typeReconciling, typeStalled}
	switch d.in.Tool {
	case AnsibleOperator:
		kinds = append(kinds, typeRunning, typeSuccessful, typeFailure)
	case HelmOperator:
		kinds = append(kinds, typeInitialized, typeDeployed, typeReleaseFailed, typeIrreconcilable, typeDrifted)
	}
	found := transitions(d.before, d.after, kinds)
	if d.ownsReady() {
		return found
	}
	return append(d.foreignReady(), found...)
}

// message is a text for a condition.
func (d *draft) message(text string) string { return Message(text, d.in.Redact) }
