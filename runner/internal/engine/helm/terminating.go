package helm

import (
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// isTerminating reports whether the API server made nothing because a namespace is being deleted. Helm joins the texts of
// errors, so that their causes are lost.
func isTerminating(text string) bool { return strings.Contains(text, "because it is being terminated") }

// terminating makes a failure that comes from the deletion of a namespace one that waits for the end of it. It is no missing
// right, although the API server answers as if it were.
func terminating(result engine.Result) engine.Result {
	var denials []engine.Denial
	for _, denial := range result.Denials {
		if !isTerminating(denial.Message) {
			denials = append(denials, denial)
		}
	}
	result.Denials = denials
	if result.Outcome == engine.Transient && isTerminating(result.Message) {
		result.Outcome, result.Reason, result.RetryAfter = engine.Waiting, engine.ReasonTerminating, busyRetry
	}
	return result
}
