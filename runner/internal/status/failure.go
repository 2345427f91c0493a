package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// maxDenials is how many refused requests a message names.
const maxDenials = 3

// cause is why the resource is not as it should be, in words.
func (d *draft) cause() string {
	if d.in.Phase != Done {
		return d.in.Message
	}
	_, message := failure(d.in.Result)
	return message
}

// failure returns reason and message of a run that failed.
func failure(result engine.Result) (string, string) {
	message := result.Message
	if message == "" {
		message = listFailures(result.Failures)
	}
	if message == "" {
		message = "The run failed without a message"
	}
	reason := reasonOr(result.Reason, ReasonRunFailed)
	if result.Outcome == engine.TimedOut {
		reason = reasonOr(result.Reason, engine.ReasonDeadlineExceeded)
	}
	if len(result.Denials) > 0 && hidesDenial(reason) {
		return engine.ReasonForbidden, listDenials(result.Denials) + "\n" + message
	}
	return reason, message
}

// hidesDenial says that a missing permission explains more than this reason does. Where the reason is Forbidden already,
// the message has it.
func hidesDenial(reason string) bool {
	return slices.Contains([]string{ReasonRunFailed, engine.ReasonTaskFailed,
		engine.ReasonPlaybookError, engine.ReasonReconcileFailed}, reason)
}

func listFailures(failures []engine.Failure) string {
	var lines []string
	for _, f := range failures {
		lines = append(lines, describeFailure(f))
	}
	return strings.Join(lines, "\n")
}

func describeFailure(f engine.Failure) string {
	var parts []string
	for _, part := range []string{f.Name, position(f.File, f.Line), f.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

func position(file string, line int) string {
	if file == "" || line <= 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// listDenials names the missing permissions in one line, each once and in order.
func listDenials(denials []engine.Denial) string {
	var missing []string
	for _, d := range denials {
		missing = append(missing, describeDenial(d))
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if n := len(missing) - maxDenials; n > 0 {
		missing = append(missing[:maxDenials], fmt.Sprintf("%d more", n))
	}
	return "Missing permission to " + strings.Join(missing, ", ")
}

func describeDenial(d engine.Denial) string {
	text := d.Verb + " " + d.Resource
	if d.Group != "" {
		text += "." + d.Group
	}
	if d.Namespace != "" {
		text += " in namespace " + d.Namespace
	}
	return text
}
