package observe

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// StepLevel is how many of a run's steps are logged.
type StepLevel string

// The levels of --ansible-log-events.
const (
	StepsNothing    StepLevel = "nothing"
	StepsTasks      StepLevel = "tasks"
	StepsEverything StepLevel = "everything"
)

// VerbosityAnnotation of a resource, if above zero, has all that its plays print logged.
const VerbosityAnnotation = "ansible.sdk.operatorframework.io/verbosity"

// Messages of steps. Those in brackets are ansible-operator's, for people who look for them.
const (
	taskStarted = "[playbook task start]"
	taskDebug   = "[playbook debug]"
	taskFailed  = "[playbook task failed]"
	taskOther   = "Task"
)

// maxText bounds what a step has printed, in bytes.
const maxText = 16 << 10

// Steps says which steps of runs are logged. The zero value logs tasks.
type Steps struct {
	Level StepLevel
	// Verbose has all that plays print logged, each event with its text.
	Verbose bool
}

// VerboseFor reports whether all that the runs of a resource print is logged: its annotation wins.
func (s Steps) VerboseFor(annotations map[string]string) bool {
	if n, err := strconv.Atoi(strings.TrimSpace(annotations[VerbosityAnnotation])); err == nil && n > 0 {
		return true
	}
	return s.Verbose
}

// Line returns the log line of a step, and false if it has none.
func (s Steps) Line(e engine.Event, verbose bool) (Line, bool) {
	everything := s.Level == StepsEverything
	switch {
	case s.Level == StepsNothing:
		return Line{}, false
	case everything, verbose && e.Text != "", worthLogging(e):
	default:
		return Line{}, false
	}
	return Line{
		Message:       stepMessage(e),
		Failed:        failed(e) && !e.Ignored,
		KeysAndValues: stepValues(e, everything || verbose || tellsByText(e)),
	}, true
}

// worthLogging reports whether a step is one of those that the old tool logged at its level tasks. The end of a task
// is logged besides, for it alone knows how long the task took.
func worthLogging(e engine.Event) bool {
	switch e.Kind {
	case engine.EventFailed, engine.EventUnreachable:
		return true
	case engine.EventTaskStarted:
		return e.Action != "" && !isAction(e, "debug") && !isAction(e, "set_fact") // charts' starts are no news
	case engine.EventOK:
		return e.Task != "" && !isAction(e, "set_fact")
	case engine.EventItem:
		return e.Message != "" || e.Text != ""
	case engine.EventNote:
		return e.Message != ""
	case engine.EventSkipped, engine.EventRetry, engine.EventStats:
		return false
	default:
		return false
	}
}

// tellsByText reports whether what a step printed is the point of it.
func tellsByText(e engine.Event) bool {
	return failed(e) || e.Kind == engine.EventItem || (e.Kind == engine.EventOK && isAction(e, "debug"))
}

func failed(e engine.Event) bool {
	return e.Kind == engine.EventFailed || e.Kind == engine.EventUnreachable
}

// isAction reports whether a step is of one of ansible-core's own modules, however the play spells its name.
func isAction(e engine.Event, module string) bool {
	return slices.Contains([]string{module, "ansible.builtin." + module, "ansible.legacy." + module}, e.Action)
}

func stepMessage(e engine.Event) string {
	switch {
	case e.Kind == engine.EventTaskStarted && e.Action != "":
		return taskStarted
	case e.Kind == engine.EventOK && isAction(e, "debug"):
		return taskDebug
	case failed(e) && e.Action != "":
		return taskFailed
	}
	return taskOther
}

// stepValues are the parts of a step that say something.
func stepValues(e engine.Event, withText bool) []any {
	values := []any{"event", string(e.Kind)}
	add := func(key string, value any, worth bool) {
		if worth {
			values = append(values, key, value)
		}
	}
	add("play", e.Play, e.Play != "")
	add("task", e.Task, e.Task != "")
	add("action", e.Action, e.Action != "")
	add("host", e.Host, e.Host != "")
	add("file", fmt.Sprintf("%s:%d", e.File, e.Line), e.File != "")
	add("changed", e.Changed, e.Kind == engine.EventOK)
	add("ignored", e.Ignored, e.Ignored)
	add("duration", e.Duration.Round(time.Millisecond).String(), e.Duration > 0)
	add("message", e.Message, e.Message != "")
	if text := printed(e.Text); withText && text != "" {
		values = append(values, "text", text)
	}
	return values
}

// colours are the sequences by which programs colour their output.
var colours = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")

// printed returns what a step has printed, without the blank lines around it and without colours.
func printed(text string) string {
	if strings.ContainsRune(text, '\x1b') {
		text = colours.ReplaceAllString(text, "")
	}
	return cut(strings.TrimSpace(text), maxText)
}
