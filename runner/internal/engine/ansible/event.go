package ansible

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// playEvent is one line of the event stream. Its form is that of ansible-runner's event files, with fields of our own.
type playEvent struct {
	UUID    string          `json:"uuid"`
	Counter int             `json:"counter"`
	Name    eventName       `json:"event"`
	Created timestamp       `json:"created"`
	Printed string          `json:"stdout"`
	Data    json.RawMessage `json:"event_data"`

	task  taskData   // of all events but the recap
	recap *recapData // of the recap
}

// timestamp is a time as any ansible-runner has written it: with a time zone, or without one, which means UTC.
type timestamp struct{ time.Time }

// UnmarshalJSON implements [json.Unmarshaler].
func (t *timestamp) UnmarshalJSON(text []byte) error {
	var written string
	if err := json.Unmarshal(text, &written); err != nil {
		return err
	}
	var err error
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", time.DateTime} {
		if t.Time, err = time.Parse(layout, written); err == nil { // a fraction of a second may follow in any layout
			return nil
		}
	}
	return fmt.Errorf("%q is no time", shorten(written, maxValueText))
}

type eventName string

// The events that mean something here; others are passed on as notes.
const (
	eventTaskStart    eventName = "playbook_on_task_start"
	eventHandlerStart eventName = "playbook_on_handler_task_start"
	eventCleanupStart eventName = "playbook_on_cleanup_task_start"
	eventOK           eventName = "runner_on_ok"
	eventFailed       eventName = "runner_on_failed"
	eventSkipped      eventName = "runner_on_skipped"
	eventUnreachable  eventName = "runner_on_unreachable"
	eventRetry        eventName = "runner_retry"
	eventItemOK       eventName = "runner_item_on_ok"
	eventItemFailed   eventName = "runner_item_on_failed"
	eventItemSkipped  eventName = "runner_item_on_skipped"
	eventRecap        eventName = "playbook_on_stats"
)

// taskData tells of a task, and of its result where there is one.
type taskData struct {
	Play     string     `json:"play"`
	Task     string     `json:"task"`
	Action   string     `json:"task_action"`
	Path     string     `json:"task_path"` // file:line
	Host     string     `json:"host"`
	Changed  bool       `json:"changed"`
	Ignored  bool       `json:"ignore_errors"`
	Rescued  bool       `json:"rescued"`
	Hidden   bool       `json:"hidden"` // by no_log
	Duration float64    `json:"duration"`
	Requeue  *string    `json:"requeue_after"`
	Result   taskResult `json:"res"`
}

// taskResult are the fields of a task's result that the plugin lets through.
type taskResult struct {
	Message      string `json:"msg"`
	Reason       string `json:"reason"` // where ansible-core itself failed the task
	SkipReason   string `json:"skip_reason"`
	Code         *int   `json:"rc"`
	Stderr       string `json:"stderr"`
	ModuleStderr string `json:"module_stderr"` // of a module that crashed
}

// recapData is the end of a play: counts by host, and what set_stats has collected.
type recapData struct {
	OK          map[string]int  `json:"ok"`
	Changed     map[string]int  `json:"changed"`
	Failures    map[string]int  `json:"failures"`
	Unreachable map[string]int  `json:"dark"`
	Skipped     map[string]int  `json:"skipped"`
	Outputs     json.RawMessage `json:"outputs"`
	OutputBytes int             `json:"outputs_bytes"` // set when they were too many to be sent
}

// parseEvent reads one line of the event stream.
func parseEvent(line []byte) (playEvent, error) {
	var event playEvent
	if err := json.Unmarshal(line, &event); err != nil {
		return playEvent{}, fmt.Errorf("read an event: %w", err)
	}
	var data any = &event.task
	if event.Name == eventRecap {
		event.recap = &recapData{}
		data = event.recap
	}
	if len(event.Data) > 0 {
		if err := json.Unmarshal(event.Data, data); err != nil {
			return playEvent{}, fmt.Errorf("read the data of event %s: %w", event.Name, err)
		}
	}
	return event, nil
}

// progress returns the event as the controller sees it.
func (e playEvent) progress() engine.Event {
	file, line := splitPath(e.task.Path)
	return engine.Event{
		Time:     e.Created.Time,
		Kind:     e.kind(),
		Play:     e.task.Play,
		Task:     e.task.Task,
		Action:   e.task.Action,
		Host:     e.task.Host,
		File:     file,
		Line:     line,
		Changed:  e.task.Changed,
		Ignored:  e.task.Ignored || e.task.Rescued,
		Duration: time.Duration(e.task.Duration * float64(time.Second)),
		Message:  e.message(),
		Text:     e.Printed,
	}
}

func (e playEvent) kind() engine.EventKind {
	switch e.Name {
	case eventTaskStart, eventHandlerStart, eventCleanupStart:
		return engine.EventTaskStarted
	case eventOK:
		return engine.EventOK
	case eventFailed:
		return engine.EventFailed
	case eventSkipped:
		return engine.EventSkipped
	case eventUnreachable:
		return engine.EventUnreachable
	case eventRetry:
		return engine.EventRetry
	case eventItemOK, eventItemFailed, eventItemSkipped:
		return engine.EventItem
	case eventRecap:
		return engine.EventStats
	default:
		return engine.EventNote
	}
}

func (e playEvent) message() string {
	switch e.Name {
	case eventFailed, eventItemFailed, eventUnreachable, eventRetry:
		return failureText(e.task)
	case eventSkipped, eventItemSkipped:
		return oneLine(e.task.Result.SkipReason)
	default:
		return oneLine(e.task.Result.Message)
	}
}

// splitPath takes file:line apart.
func splitPath(path string) (file string, line int) {
	i := strings.LastIndexByte(path, ':')
	if i < 0 {
		return path, 0
	}
	line, err := strconv.Atoi(path[i+1:])
	if err != nil {
		return path, 0
	}
	return path[:i], line
}
