package runner

import (
	"strconv"
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/observe"
)

// steps returns which steps of runs are logged: as many as --ansible-log-events says, and with ANSIBLE_VERBOSITY above
// zero all that plays print, as ansible-operator does.
func steps(level string, getenv func(string) string) observe.Steps {
	verbosity, err := strconv.Atoi(strings.TrimSpace(getenv("ANSIBLE_VERBOSITY")))
	return observe.Steps{Level: observe.StepLevel(strings.ToLower(level)), Verbose: err == nil && verbosity > 0}
}
