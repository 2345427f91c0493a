package engine

import "time"

// Event is one step of a run: a task that started or ended, a hook, an object that was put back.
type Event struct {
	Time     time.Time
	Kind     EventKind
	Play     string
	Task     string // task name, or kind/name of an object
	Action   string // module name; empty for charts
	Host     string
	File     string // file that holds the task
	Line     int
	Changed  bool
	Ignored  bool          // a failure that ignore_errors or a rescue made good
	Duration time.Duration // of a task that ended
	Message  string        // one line, redacted where the task had no_log
	Text     string        // what the old tools print for the step; may have several lines
}

// EventKind is what an Event tells.
type EventKind string

// The kinds of events.
const (
	EventTaskStarted EventKind = "task_started"
	EventOK          EventKind = "ok"
	EventItem        EventKind = "item"
	EventSkipped     EventKind = "skipped"
	EventFailed      EventKind = "failed"
	EventUnreachable EventKind = "unreachable"
	EventRetry       EventKind = "retry"
	EventStats       EventKind = "stats"
	EventNote        EventKind = "note" // anything else worth a log line
)
