package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// usual is a resource that is selected, has our finalizer on it, and changed.
func usual(change func(*Input)) Input {
	in := Input{Trigger: engine.TriggerSpec, Finalizer: "example.com/cleanup", Held: true, Selected: true, Changed: true, Now: now}
	if change != nil {
		change(&in)
	}
	return in
}

// decided is what a row of the table looks at.
type decided struct {
	Action Action
	Mode   engine.Mode
	Rule   string
	Reason string
	After  time.Duration
}

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		in     Input
		want   decided
	}{
		"Change": {"the usual case", usual(nil), decided{Action: Run, Mode: engine.Reconcile, Rule: "Run"}},
		"NoFinalizer": {"a watch without finalizer runs at once",
			usual(func(in *Input) { in.Finalizer, in.Held = "", false }), decided{Action: Run, Mode: engine.Reconcile, Rule: "Run"}},
		"NotHeld": {"the finalizer comes before anything is made",
			usual(func(in *Input) { in.Held = false }), decided{Action: Hold, Mode: engine.Reconcile, Rule: "NotHeld"}},
		"Deleting": {"the finalizer's run",
			usual(func(in *Input) { in.Deleting = true }), decided{Action: Run, Mode: engine.Finalize, Rule: "Finalize"}},
		"DeletingWithoutFinalizer": {"never add a finalizer to what is going (G7), nor run for it",
			usual(func(in *Input) { in.Deleting, in.Held = true, false }), decided{Action: Skip, Rule: "DeletedWithoutFinalizer"}},
		"DeletingRefused": {"a bad annotation or spec does not hold up deletion (AO 10.1 no. 9)",
			usual(func(in *Input) { in.Deleting, in.Refusal = true, &Refusal{"Refused", "x"} }), decided{Action: Run, Mode: engine.Finalize, Rule: "Finalize"}},
		"DeletingPaused": {"a pause does not hold up deletion (HO 11.3 no. 24)",
			usual(func(in *Input) { in.Deleting, in.Paused = true, true }), decided{Action: Run, Mode: engine.Finalize, Rule: "Finalize"}},
		"DeletingNotSelected": {"what we made goes, whatever the labels say now",
			usual(func(in *Input) { in.Deleting, in.Selected = true, false }), decided{Action: Run, Mode: engine.Finalize, Rule: "Finalize"}},
		"DeletingStalled": {"a resource that never worked is cleaned up after, too",
			usual(func(in *Input) { in.Deleting, in.Stalled, in.Trigger = true, true, engine.TriggerRetry }), decided{Action: Run, Mode: engine.Finalize, Rule: "Finalize"}},
		"Sibling": {"another watch of the kind looks after it, to its end",
			usual(func(in *Input) { in.Deleting, in.Selected, in.Sibling = true, false, true }), decided{Action: Skip, Rule: "Sibling"}},
		"SkipFinalizer": {"the way out of a finalizer that cannot succeed (G2)",
			usual(func(in *Input) { in.Deleting, in.SkipFinalizer = true, true }), decided{Action: Release, Rule: "SkipFinalizer"}},
		"SkipFinalizerAlive": {"the annotation says nothing about a resource that stays",
			usual(func(in *Input) { in.SkipFinalizer = true }), decided{Action: Run, Mode: engine.Reconcile, Rule: "Run"}},
		"FinalizerRetryEarly": {"an event in between does not beat the back-off",
			usual(func(in *Input) {
				in.Deleting, in.Trigger, in.RetryAt = true, engine.TriggerDependent, now.Add(8*time.Second)
			}),
			decided{Action: Wait, Rule: "FinalizerRetry", After: 8 * time.Second}},
		"FinalizerRetryDue": {"the back-off is over",
			usual(func(in *Input) { in.Deleting, in.Trigger, in.RetryAt = true, engine.TriggerRetry, now }), decided{Action: Run, Mode: engine.Finalize, Rule: "Finalize"}},
		"FinalizerRetryAsked": {"somebody asks for it now",
			usual(func(in *Input) {
				in.Deleting, in.Trigger, in.RetryAt = true, engine.TriggerRequest, now.Add(time.Minute)
			}), decided{Action: Run, Mode: engine.Finalize, Rule: "Finalize"}},
		"LeftSelector": {"what left the selector is cleaned up after",
			usual(func(in *Input) { in.Selected = false }), decided{Action: Run, Mode: engine.Finalize, Rule: "LeftSelector"}},
		"NotSelected": {"the periodic run and children honour the selector, too (D9)",
			usual(func(in *Input) { in.Selected, in.Held, in.Trigger = false, false, engine.TriggerPeriod }), decided{Action: Skip, Rule: "NotSelected"}},
		"Paused": {"a pause holds even a new spec back",
			usual(func(in *Input) { in.Paused = true }), decided{Action: Pause, Rule: "Paused"}},
		"Refused": {"the reason reaches status",
			usual(func(in *Input) { in.Refusal = &Refusal{"VariableClash", "x"} }), decided{Action: Refuse, Rule: "Refused", Reason: "VariableClash"}},
		"RefusedBeforeHeld": {"nothing is put on a resource that is not run",
			usual(func(in *Input) { in.Refusal, in.Held = &Refusal{"VariableClash", "x"}, false }), decided{Action: Refuse, Rule: "Refused", Reason: "VariableClash"}},
		"StalledRetry": {"permanent failures are not retried",
			usual(func(in *Input) { in.Stalled, in.Changed, in.Trigger = true, false, engine.TriggerRetry }), decided{Action: Skip, Rule: "Stalled"}},
		"StalledChange": {"a new spec is a new chance",
			usual(func(in *Input) { in.Stalled, in.Trigger = true, engine.TriggerRetry }), decided{Action: Run, Mode: engine.Reconcile, Rule: "Run"}},
		"StalledRequest": {"so is a request",
			usual(func(in *Input) { in.Stalled, in.Changed, in.Trigger = true, false, engine.TriggerRequest }), decided{Action: Run, Mode: engine.Reconcile, Rule: "Run"}},
		"StalledPeriod": {"and the period, for the world outside may have changed",
			usual(func(in *Input) { in.Stalled, in.Changed, in.Trigger = true, false, engine.TriggerPeriod }), decided{Action: Run, Mode: engine.Reconcile, Rule: "Run"}},
		"ExhaustedRetry": {"the budget is spent",
			usual(func(in *Input) { in.Exhausted, in.Changed, in.Trigger = true, false, engine.TriggerPeriod }), decided{Action: Skip, Rule: "Exhausted"}},
		"ExhaustedChange": {"a new spec is a new budget",
			usual(func(in *Input) { in.Exhausted, in.Trigger = true, engine.TriggerSpec }), decided{Action: Run, Mode: engine.Reconcile, Rule: "Run"}},
		"ExhaustedDeletion": {"whatever failed before, cleaning up is tried (G2)",
			usual(func(in *Input) { in.Exhausted, in.Deleting, in.Trigger = true, true, engine.TriggerDeletion }), decided{Action: Run, Mode: engine.Finalize, Rule: "Finalize"}},
		"UnchangedPeriod": {"no run for nothing (A2)",
			usual(func(in *Input) { in.Unchanged, in.Period, in.Trigger = true, time.Hour, engine.TriggerPeriod }), decided{Action: Wait, Rule: "Unchanged", After: time.Hour}},
		"UnchangedRestart": {"a restart waits for the rest of the period (A3)",
			usual(func(in *Input) {
				in.Unchanged, in.Period, in.Trigger, in.LastGood = true, time.Hour, engine.TriggerInitial, now.Add(-50*time.Minute)
			}), decided{Action: Wait, Rule: "Unchanged", After: 10 * time.Minute}},
		"UnchangedWithoutPeriod": {"nothing is due, ever",
			usual(func(in *Input) { in.Unchanged, in.Trigger = true, engine.TriggerInitial }), decided{Action: Skip, Rule: "Unchanged"}},
		"UnchangedChild": {"a child that was edited is put right",
			usual(func(in *Input) { in.Unchanged, in.Period, in.Trigger = true, time.Hour, engine.TriggerDependent }), decided{Action: Run, Mode: engine.Reconcile, Rule: "Run"}},
		"StalledRestart": {"and a restart, for the content may have changed",
			usual(func(in *Input) { in.Stalled, in.Changed, in.Trigger = true, false, engine.TriggerInitial }), decided{Action: Run, Mode: engine.Reconcile, Rule: "Run"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := Decide(c.in)
			got := decided{Action: d.Action, Mode: d.Mode, Rule: d.Rule, Reason: d.Reason, After: d.After}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// inputs returns every combination of facts.
func inputs() []Input {
	triggers := []engine.Trigger{engine.TriggerDeletion, engine.TriggerSpec, engine.TriggerMetadata, engine.TriggerRequest,
		engine.TriggerDependent, engine.TriggerRetry, engine.TriggerPeriod, engine.TriggerInitial, engine.TriggerSchedule}
	const facts = 13
	var all []Input
	for set := range 1 << facts {
		is := func(i int) bool { return set>>i&1 == 1 }
		for _, trigger := range triggers {
			in := Input{Trigger: trigger, Deleting: is(0), Held: is(1), Selected: is(2), Paused: is(3), SkipFinalizer: is(4),
				Changed: is(5), Stalled: is(6), Now: now}
			if is(7) {
				in.Refusal = &Refusal{Reason: "Refused", Message: "x"}
			}
			if is(8) {
				in.RetryAt = now.Add(time.Minute)
			}
			in.Exhausted, in.Unchanged, in.Sibling, in.Period = is(10), is(11), is(12), time.Hour
			if is(9) {
				in.Finalizer = "example.com/cleanup"
			}
			all = append(all, in)
		}
	}
	return all
}

// TestDecideKeepsPromises looks at every combination rather than at chosen ones.
func TestDecideKeepsPromises(t *testing.T) {
	for _, in := range inputs() {
		d := Decide(in)
		for _, promise := range []struct {
			name string
			kept bool
		}{
			{"the decision has an action and a rule", d.Action != "" && d.Rule != ""},
			{"a mode goes with what runs, and with nothing else", (d.Action == Run || d.Action == Hold) == (d.Mode != "")},
			{"deletion is never refused, paused or held up by a new finalizer", !in.Deleting || d.Action != Refuse && d.Action != Pause && d.Action != Hold},
			{"what is being deleted is never reconciled", !in.Deleting || d.Mode != engine.Reconcile},
			{"what holds a deleted resource is worked off", !in.Deleting || !in.Held || d.Action != Skip || in.Exhausted || in.Sibling},
			{"what is not held is neither cleaned up after nor released", in.Held || d.Mode != engine.Finalize && d.Action != Release},
			{"what is not selected is never reconciled", in.Selected || d.Mode != engine.Reconcile},
			{"nothing runs for a resource before its finalizer is on it", d.Action != Run || in.Held || in.Finalizer == ""},
			{"a refusal says why", d.Action != Refuse || d.Reason != "" && d.Message != ""},
			{"waits are waits", (d.Action == Wait) == (d.After > 0)},
		} {
			if !promise.kept {
				t.Fatalf("%s, but %+v gives %+v", promise.name, in, d)
			}
		}
	}
}

// TestRulesAreReached: a rule that never decides is either dead or behind the wrong one.
func TestRulesAreReached(t *testing.T) {
	reached := map[string]bool{}
	for _, in := range inputs() {
		reached[Decide(in).Rule] = true
	}
	for _, rule := range Rules() {
		if !reached[rule.Name] {
			t.Errorf("rule %s decides nothing", rule.Name)
		}
		if rule.Meaning == "" || rule.Meaning[len(rule.Meaning)-1] != '.' {
			t.Errorf("rule %s is not explained by a sentence: %q", rule.Name, rule.Meaning)
		}
	}
	if got, want := len(reached), len(Rules())+1; got != want {
		t.Errorf("%d rules decide, want %d with the last resort", got, want)
	}
}
