package plan

import (
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Input is what is known of a resource when it is looked at.
type Input struct {
	// Trigger is why it is looked at.
	Trigger engine.Trigger
	// Deleting says that the resource has a deletion timestamp.
	Deleting bool
	// Finalizer is the name that holds the resource for cleaning up; empty when the watch has none.
	Finalizer string
	// Held says that the resource carries Finalizer, or one of an older tool in its place.
	Held bool
	// Selected says that the watch's selector matches the resource now.
	Selected bool
	// Sibling says that the resource is another watch's, of the same kind.
	Sibling bool
	// Paused, SkipFinalizer: the annotations chartbook.dev/paused and chartbook.dev/skip-finalizer are "true".
	Paused        bool
	SkipFinalizer bool
	// Changed says that the spec is not the one that the last run was made for, or that there was no run yet.
	Changed bool
	// Stalled says that the last run failed for good.
	Stalled bool
	// Exhausted says that runs have failed as often as the watch allows.
	Exhausted bool
	// Unchanged says that the watch resyncs only what changed, and that nothing did since the last good run.
	Unchanged bool
	// Period and Random are for the next look at what is Unchanged: the resource's period, and a number in [0,1).
	Period time.Duration
	Random float64
	// LastGood is when the last good run ended; zero if unknown.
	LastGood time.Time
	// Refusal, when set, says why the resource cannot be run as it is.
	Refusal *Refusal
	// RetryAt, when in the future, is when a failed finalizer may be run again.
	RetryAt time.Time
	// Now is the time of the decision.
	Now time.Time
}

// Refusal is why a resource is not run before it changes.
type Refusal struct {
	Reason  string // one CamelCase word from the list in package status
	Message string // one line: what is wrong and what to do
}

// Action is what to do with a resource.
type Action string

// The actions.
const (
	Run     Action = "Run"     // run the engine in Decision.Mode
	Hold    Action = "Hold"    // put the finalizer on the resource, then run
	Release Action = "Release" // take the finalizer off without running anything
	Skip    Action = "Skip"    // nothing to do
	Refuse  Action = "Refuse"  // nothing to do before the resource changes; status says why
	Pause   Action = "Pause"   // nothing to do before the annotation is gone; status says so
	Wait    Action = "Wait"    // nothing to do before Decision.After is over
)

// Decision is what [Decide] came to.
type Decision struct {
	Action  Action
	Mode    engine.Mode   // for Run and Hold
	Rule    string        // name of the rule that decided
	Reason  string        // for Refuse
	Message string        // one line for people
	After   time.Duration // for Wait
	// Trigger is what to call the next look, for Wait.
	Trigger engine.Trigger
}

// Runs reports whether the engine is to run.
func (d Decision) Runs() bool { return d.Action == Run || d.Action == Hold }

// rule is one opinion; ok is false when it has none.
type rule struct {
	name    string
	meaning string
	decide  func(Input) (d Decision, ok bool)
}

// Decide returns what to do.
func Decide(in Input) Decision {
	for _, r := range rules {
		if d, ok := r.decide(in); ok {
			d.Rule = r.name
			return d
		}
	}
	return Decision{Action: Run, Mode: engine.Reconcile, Rule: "Run"}
}
