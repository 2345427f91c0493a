package observe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// ready is a change of the condition Ready.
func ready(from, fromReason, to, reason, message string) []Transition {
	return []Transition{
		{Type: "Reconciling", From: "True", FromReason: "InProgress"},
		{Type: "Ready", From: from, FromReason: fromReason, To: to, Reason: reason, Message: message},
		{Type: "Failure", To: "False"},
	}
}

func TestEvents(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		change Change
		want   []Event
	}{
		"Nothing": {"what stays as it is stays silent", Change{Outcome: engine.Succeeded}, nil},
		"OtherConditions": {"only Ready sums up", Change{Outcome: engine.Succeeded,
			Transitions: []Transition{{Type: "Running", From: "True", To: "True", Reason: "Successful"}}}, nil},
		"Start": {"a run that starts is not worth an event", Change{Transitions: ready("True", "Succeeded", "Unknown", "InProgress", "x")}, nil},
		"Success": {"the end of a first run, or of one for a new spec",
			Change{Outcome: engine.Changed, Transitions: ready("Unknown", "InProgress", "True", "Succeeded", "The last run succeeded")},
			[]Event{{Normal, EventSucceeded, "Reconcile", "The last run succeeded"}}},
		"Failure": {"a failure says its reason",
			Change{Outcome: engine.Transient, Transitions: ready("True", "Succeeded", "False", "TaskFailed", "disk full")},
			[]Event{{Warning, EventFailed, "Reconcile", "TaskFailed: disk full"}}},
		"Timeout": {"a timeout is a failure",
			Change{Outcome: engine.TimedOut, Transitions: ready("Unknown", "InProgress", "False", "DeadlineExceeded", "took 5m")},
			[]Event{{Warning, EventFailed, "Reconcile", "DeadlineExceeded: took 5m"}}},
		"Forbidden": {"an administrator looks for this one",
			Change{Outcome: engine.Transient, Transitions: ready("", "", "False", "Forbidden", "may not create services")},
			[]Event{{Warning, EventForbidden, "Reconcile", "may not create services"}}},
		"Waiting": {"waiting is no warning, whatever the author calls it",
			Change{Outcome: engine.Waiting, Transitions: ready("", "", "False", "WaitingForSecret", "no Secret")},
			[]Event{{Normal, EventWaiting, "Reconcile", "WaitingForSecret: no Secret"}}},
		"Refused": {"no run, and none before a change",
			Change{Transitions: ready("", "", "False", "VariableClash", "two keys")},
			[]Event{{Warning, EventRefused, "Reconcile", "VariableClash: two keys"}}},
		"EngineError": {"the operator's own trouble is not the author's mistake",
			Change{Transitions: ready("", "", "False", "EngineError", "no python")},
			[]Event{{Warning, EventFailed, "Reconcile", "EngineError: no python"}}},
		"Pending":        {"waiting before a run", Change{Transitions: ready("", "", "False", "Pending", "x")}, []Event{{Normal, EventWaiting, "Reconcile", "Pending: x"}}},
		"Paused":         {"the pause is confirmed", Change{Transitions: ready("True", "Succeeded", "True", "Paused", "x")}, []Event{{Normal, EventPaused, "Reconcile", "x"}}},
		"PausedOnChange": {"once is enough", Change{Transitions: ready("True", "Paused", "Unknown", "Paused", "x")}, nil},
		"Interrupted":    {"a shutdown is no failure", Change{Outcome: engine.Cancelled, Transitions: ready("Unknown", "InProgress", "Unknown", "Interrupted", "x")}, []Event{{Normal, EventInterrupted, "Reconcile", "x"}}},
		"Deleting":       {"kubectl delete says so already", Change{Mode: engine.Finalize, Transitions: ready("True", "Succeeded", "False", "Deleting", "x")}, nil},
		"Finalized":      {"the clean-up is done", Change{Mode: engine.Finalize, Outcome: engine.Changed, Transitions: ready("False", "Deleting", "False", "Finalized", "x")}, []Event{{Normal, EventFinalized, "Finalize", "x"}}},
		"FinalizerFailed": {"this one keeps a namespace from going away",
			Change{Mode: engine.Finalize, Outcome: engine.Permanent, Transitions: ready("False", "Deleting", "False", "SyntaxError", "x")},
			[]Event{{Warning, EventFinalizerFailed, "Finalize", "SyntaxError: x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Events(c.change)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestRunEvents(t *testing.T) {
	repaired := Run{Chart: true, Result: engine.Result{Outcome: engine.Changed, Release: &engine.Release{Name: "demo", Action: engine.ActionRepair}}}
	want := []Event{{Normal, EventRepaired, "Reconcile", "Objects of release demo were put back"}}
	if diff := cmp.Diff(want, RunEvents(repaired)); diff != "" {
		t.Errorf("a repair changes no condition, yet something happened (-want +got):\n%s", diff)
	}
	idle := Run{Chart: true, Result: engine.Result{Outcome: engine.Succeeded, Release: &engine.Release{Name: "demo", Action: engine.ActionNone}}}
	if got := RunEvents(idle); got != nil {
		t.Errorf("an idle run gives events: %v", got)
	}
}

func TestNotesAreBounded(t *testing.T) {
	note := NewEvent(EventFailed, engine.Reconcile, strings.Repeat("é", 2000)).Note
	if want := strings.Repeat("é", 498) + "…"; note != want {
		t.Errorf("note has %d bytes: %q", len(note), note)
	}
}

func TestEventReasonsAreExplained(t *testing.T) {
	seen := map[EventReason]bool{}
	for _, doc := range EventReasons() {
		if seen[doc.Reason] {
			t.Errorf("reason %s is listed twice", doc.Reason)
		}
		seen[doc.Reason] = true
		if doc.Type != Normal && doc.Type != Warning {
			t.Errorf("reason %s has the type %q", doc.Reason, doc.Type)
		}
		if !strings.HasSuffix(doc.Meaning, ".") {
			t.Errorf("reason %s is not explained by a sentence: %q", doc.Reason, doc.Meaning)
		}
	}
}
