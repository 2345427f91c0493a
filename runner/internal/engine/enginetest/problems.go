package enginetest

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// maxMessage bounds Result.Message in bytes. Status shortens messages; this only keeps memory bounded.
const maxMessage = 64 << 10

var outcomes = []engine.Outcome{engine.Succeeded, engine.Changed, engine.Waiting, engine.Transient,
	engine.Permanent, engine.Cancelled, engine.TimedOut}

var eventKinds = []engine.EventKind{engine.EventTaskStarted, engine.EventOK, engine.EventItem, engine.EventSkipped,
	engine.EventFailed, engine.EventUnreachable, engine.EventRetry, engine.EventStats, engine.EventNote}

// problems returns what is wrong with an answer whatever the run was about.
func problems(a answer) []string {
	if a.err != nil {
		return nil // the result next to an error means nothing
	}
	var found []string
	complain := func(bad bool, format string, args ...any) {
		if bad {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	r := a.result
	complain(!slices.Contains(outcomes, r.Outcome), "outcome %q is none of the known ones", r.Outcome)
	complain(r.Started.IsZero() || r.Finished.IsZero(), "Started %v or Finished %v is not set", r.Started, r.Finished)
	complain(r.Finished.Before(r.Started), "Finished %v is before Started %v", r.Finished, r.Started)
	complain(!utf8.ValidString(r.Message), "message is not valid UTF-8: %q", r.Message)
	complain(len(r.Message) > maxMessage, "message has %d bytes, more than %d", len(r.Message), maxMessage)
	complain(r.RetryAfter < 0, "RetryAfter %v is negative", r.RetryAfter)
	complain(r.Outcome.OK() && len(r.Failures) > 0, "a good run has failures: %+v", r.Failures)
	complain(r.APIRequests < 0 || r.Processes < 0, "negative counts: %d requests, %d processes", r.APIRequests, r.Processes)
	complain(r.Release != nil && r.Release.Name == "", "the release has no name")
	for _, child := range r.Children {
		complain(child.GVK.Kind == "" || child.GVK.Version == "" || child.Name == "", "child %+v is not fully named", child)
	}
	for _, event := range a.events {
		complain(!slices.Contains(eventKinds, event.Kind), "event kind %q is none of the known ones", event.Kind)
	}
	return found
}
