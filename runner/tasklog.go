package runner

import (
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// logged returns which steps of a run are logged, as --ansible-log-events says.
func logged(level string) func(engine.Event) bool {
	switch strings.ToLower(level) {
	case "nothing":
		return func(engine.Event) bool { return false }
	case "everything":
		return func(engine.Event) bool { return true }
	}
	return func(e engine.Event) bool {
		failed := e.Kind == engine.EventFailed || e.Kind == engine.EventUnreachable
		return failed || (e.Kind == engine.EventOK && e.Task != "") || (e.Kind == engine.EventNote && e.Message != "")
	}
}
