package plan

import (
	"slices"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// rules in the order in which they are asked. Deletion comes before everything that could hold it up.
var rules = []rule{
	{"Sibling", "A resource that another watch of its kind selects is left to that one, also when it is deleted; one that none selects, to the first of them.", sibling},
	{"SkipFinalizer", "A resource that is being deleted and has the annotation chartbook.dev/skip-finalizer is let go without cleaning up.", skipFinalizer},
	{"DeletedWithoutFinalizer", "A resource that is being deleted and is not held by our finalizer is left alone.", deletedWithoutFinalizer},
	{"Exhausted", "A resource whose runs failed as often as retry.limit allows is not run by a retry, a child, the period or the schedule; a change, a request, its deletion and a restart of the operator do run it.", exhausted},
	{"FinalizerRetry", "A finalizer that failed is run again after its back-off, not sooner, unless the resource changes or somebody asks.", finalizerRetry},
	{"Finalize", "A resource that is being deleted and is held by our finalizer is cleaned up after.", finalize},
	{"LeftSelector", "A resource that does not match the selector any more is cleaned up after like a deleted one if it is held by our finalizer.", leftSelector},
	{"NotSelected", "A resource that does not match the selector is left alone.", notSelected},
	{"Paused", "A resource with the annotation chartbook.dev/paused is not run; deletion goes on.", paused},
	{"Refused", "A resource that cannot be run as it is, is not run before it changes.", refused},
	{"Stalled", "A run that failed for good is not repeated by a retry; a change, a request, a child, the period and a restart of the operator do repeat it.", stalled},
	{"Unchanged", "With resync: changed, neither the period nor a restart of the operator runs a resource that did not change since its last good run, nor did the content.", unchanged},
	{"NotHeld", "The finalizer is put on a resource before its first run.", notHeld},
}

// RuleDoc explains one rule.
type RuleDoc struct {
	Name    string
	Meaning string // one sentence
}

// Rules returns the rules in the order in which they are asked.
func Rules() []RuleDoc {
	docs := make([]RuleDoc, len(rules))
	for i, r := range rules {
		docs[i] = RuleDoc{Name: r.name, Meaning: r.meaning}
	}
	return docs
}

func sibling(in Input) (Decision, bool) {
	return Decision{Action: Skip, Message: "the resource is that of another watch of its kind"}, in.Sibling
}

func skipFinalizer(in Input) (Decision, bool) {
	return Decision{Action: Release, Message: "let go without cleaning up, as chartbook.dev/skip-finalizer asks"},
		in.Deleting && in.Held && in.SkipFinalizer
}

func deletedWithoutFinalizer(in Input) (Decision, bool) {
	return Decision{Action: Skip, Message: "the resource is being deleted and nothing is to be cleaned up"}, in.Deleting && !in.Held
}

func finalizerRetry(in Input) (Decision, bool) {
	wait := in.RetryAt.Sub(in.Now)
	urgent := in.Trigger == engine.TriggerRequest || in.Trigger == engine.TriggerSpec || in.Trigger == engine.TriggerDeletion
	d := Decision{Action: Wait, After: wait, Trigger: engine.TriggerRetry, Message: "the finalizer failed and is run again later"}
	return d, in.Deleting && wait > 0 && !urgent
}

func finalize(in Input) (Decision, bool) {
	return Decision{Action: Run, Mode: engine.Finalize, Message: "the resource is being deleted"}, in.Deleting
}

func leftSelector(in Input) (Decision, bool) {
	return Decision{Action: Run, Mode: engine.Finalize, Message: "the resource does not match the selector any more"}, !in.Selected && in.Held
}

func notSelected(in Input) (Decision, bool) {
	return Decision{Action: Skip, Message: "the resource does not match the selector"}, !in.Selected
}

func paused(in Input) (Decision, bool) {
	return Decision{Action: Pause, Message: "runs are held back by the annotation chartbook.dev/paused"}, in.Paused
}

func refused(in Input) (Decision, bool) {
	if in.Refusal == nil {
		return Decision{}, false
	}
	return Decision{Action: Refuse, Reason: in.Refusal.Reason, Message: in.Refusal.Message}, true
}

func stalled(in Input) (Decision, bool) {
	return Decision{Action: Skip, Message: "the last run failed for good; change the resource or ask for a run"},
		in.Stalled && !in.Changed && in.Trigger == engine.TriggerRetry
}

func exhausted(in Input) (Decision, bool) {
	byItself := []engine.Trigger{engine.TriggerRetry, engine.TriggerDependent, engine.TriggerPeriod, engine.TriggerSchedule}
	return Decision{Action: Skip, Message: "runs failed as often as retry.limit allows; change the resource or ask for a run"},
		in.Exhausted && !in.Changed && slices.Contains(byItself, in.Trigger)
}

func unchanged(in Input) (Decision, bool) {
	const message = "nothing changed since the last good run"
	switch {
	case !in.Unchanged || in.Trigger != engine.TriggerPeriod && in.Trigger != engine.TriggerInitial:
		return Decision{}, false
	case in.Period <= 0:
		return Decision{Action: Skip, Message: message}, true
	}
	d := Decision{Action: Wait, Trigger: engine.TriggerPeriod, Message: message}
	d.After = spread(in.Period, in.Random)
	if in.Trigger == engine.TriggerInitial && !in.LastGood.IsZero() {
		d.After = max(d.After-in.Now.Sub(in.LastGood), time.Second)
	}
	return d, true
}

func notHeld(in Input) (Decision, bool) {
	return Decision{Action: Hold, Mode: engine.Reconcile}, in.Finalizer != "" && !in.Held
}
