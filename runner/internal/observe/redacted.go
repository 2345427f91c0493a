package observe

import (
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Secrets are taken out of texts before these are cut to size, so that no half of one is left.

// Redacted returns the run with the secrets taken out of what is told about it; redact may be nil.
func (r Run) Redacted(redact func(string) string) Run {
	if redact != nil {
		r.Result.Message = redact(r.Result.Message)
	}
	return r
}

// Redacted returns the event with the secrets taken out of its note; redact may be nil.
func (e Event) Redacted(redact func(string) string) Event {
	if redact != nil {
		e.Note = shorten(redact(e.Note))
	}
	return e
}

// RedactedStep returns a step with the secrets taken out of its texts; redact may be nil.
func RedactedStep(e engine.Event, redact func(string) string) engine.Event {
	if redact == nil {
		return e
	}
	for _, text := range []*string{&e.Play, &e.Task, &e.Action, &e.Host, &e.Message, &e.Text} {
		*text = redact(*text)
	}
	return e
}
