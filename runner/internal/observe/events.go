package observe

import (
	"strings"
	"unicode/utf8"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// maxNote bounds the text of an event in bytes. The API server takes 1024.
const maxNote = 1000

// Event is what the controller tells about a resource.
type Event struct {
	Type   string // Normal or Warning
	Reason EventReason
	Action string // what was being done: Reconcile or Finalize
	Note   string // one text, at most 1000 bytes
}

// NewEvent returns an event of a reason of the list, with its type. The note must hold no secret.
func NewEvent(reason EventReason, mode engine.Mode, note string) Event {
	action := "Reconcile"
	if mode == engine.Finalize {
		action = "Finalize"
	}
	return Event{Type: typeOf(reason), Reason: reason, Action: action, Note: shorten(note)}
}

// Transition is a condition that got another status or reason. It is status.Transition, field by field, so that one
// converts to the other.
type Transition struct {
	Type       string
	From       string
	To         string
	FromReason string
	Reason     string
	Message    string
}

// Change is what a write of status changed.
type Change struct {
	Transitions []Transition
	// Outcome of the run that has ended; empty when none has.
	Outcome engine.Outcome
	// Mode of the run.
	Mode engine.Mode
}

// Events returns what is told about a change: at most one event, since one condition, Ready, sums up the others.
func Events(c Change) []Event {
	for _, t := range c.Transitions {
		if t.Type != "Ready" {
			continue
		}
		if reason := c.reasonFor(t); reason != "" {
			return []Event{NewEvent(reason, c.Mode, note(reason, t))}
		}
	}
	return nil
}

// reasonFor returns what a change of Ready is called; empty for a step on the way that is not worth an event.
func (c Change) reasonFor(t Transition) EventReason {
	switch t.Reason {
	case "Paused":
		if t.FromReason == t.Reason {
			return ""
		}
		return EventPaused
	case "Interrupted":
		return EventInterrupted
	case "InProgress", "Deleting", "Released": // of what is released there is an event already
		return ""
	case "Finalized":
		return EventFinalized
	case "Pending":
		return EventWaiting
	}
	switch {
	case t.To == "True":
		return EventSucceeded
	case t.To != "False":
		return ""
	default:
		return c.failure(t)
	}
}

func (c Change) failure(t Transition) EventReason {
	switch {
	case c.Outcome == engine.Waiting:
		return EventWaiting
	case t.Reason == engine.ReasonForbidden:
		return EventForbidden
	case c.Mode == engine.Finalize:
		return EventFinalizerFailed
	case c.Outcome == "" && t.Reason != "EngineError":
		return EventRefused
	default:
		return EventFailed
	}
}

// note puts the condition's reason before its message where the event's own does not say it.
func note(reason EventReason, t Transition) string {
	if string(reason) == t.Reason || t.To == "True" {
		return t.Message
	}
	return t.Reason + ": " + t.Message
}

// RunEvents returns what is told about a run whatever it did to the conditions: that a chart's objects were put back.
func RunEvents(r Run) []Event {
	release := r.Result.Release
	if !r.Result.Outcome.OK() || release == nil || release.Action != engine.ActionRepair {
		return nil
	}
	return []Event{NewEvent(EventRepaired, r.Job.Mode, "Objects of release "+release.Name+" were put back")}
}

func shorten(text string) string { return cut(text, maxNote) }

// cut shortens a text to a number of bytes and says so.
func cut(text string, size int) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= size {
		return text
	}
	const ellipsis = "…"
	end := size - len(ellipsis)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
