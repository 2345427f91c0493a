package ansible

import (
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// localhost is the inventory's name of the machine that plays run on.
const localhost = "localhost"

// recorder takes in the events of one run. It is used by one goroutine at a time.
type recorder struct {
	progress func(engine.Event) // may be nil
	artifact *artifact
	hide     redactor // may be nil

	events   int
	current  taskData // the task that began last
	failures []failed
	loops    map[string]string // by host: why the first item of the present loop failed
	requeue  *requeue          // of the first task that asked for it
	recap    *recapData
	ended    time.Time // when the recap came
}

// failed is a task that failed, which the end of the play may still make good.
type failed struct {
	failure     engine.Failure
	unreachable bool
	ignored     bool
	rescued     bool
}

// requeue is a task that asked for another run.
type requeue struct {
	task   taskData
	period string // empty if no_log has hidden it
}

// line takes in one line of the event stream. One that is no event is left out: a run is not failed for it.
func (r *recorder) line(line []byte) {
	event, err := parseEvent(line)
	if err != nil {
		return
	}
	r.artifact.event(event.Counter, event.UUID, r.hide.eventLine(line))
	r.hide.event(&event)
	r.record(event)
	r.events++
	if r.progress != nil {
		r.progress(event.progress())
	}
}

func (r *recorder) record(event playEvent) {
	task := event.task
	if task.Requeue != nil && r.requeue == nil {
		r.requeue = &requeue{task: task, period: *task.Requeue}
	}
	switch event.Name {
	case eventTaskStart, eventHandlerStart, eventCleanupStart:
		r.current, r.loops = task, nil
	case eventItemFailed:
		r.itemFailed(task)
	case eventFailed, eventUnreachable:
		r.failures = append(r.failures, failed{
			failure:     r.failure(task),
			unreachable: event.Name == eventUnreachable,
			ignored:     task.Ignored,
			rescued:     task.Rescued,
		})
	case eventRecap:
		r.recap, r.ended = event.recap, event.Created.Time
	default: // tells nothing about the outcome
	}
}

func (r *recorder) itemFailed(task taskData) {
	if r.loops == nil {
		r.loops = map[string]string{}
	}
	if _, known := r.loops[task.Host]; !known {
		r.loops[task.Host] = failureText(task)
	}
}

// failure describes a failed task. That of a loop says no more than that some item failed; the item's words follow.
func (r *recorder) failure(task taskData) engine.Failure {
	text := failureText(task)
	if item := r.loops[task.Host]; item != "" && !task.Hidden {
		text = shorten(text+": "+item, maxFailureText)
	}
	file, line := splitPath(task.Path)
	return engine.Failure{Name: task.Task, Host: task.Host, File: file, Line: line, Message: text}
}

// unresolved returns the failures that count: neither ignored nor rescued. Where the play came to its recap, that
// knows best; a failure inside a block with a rescue section is then counted only if the host has failed anyway and
// no other failure of it explains that.
func (r *recorder) unresolved() []failed {
	var counted []failed
	explained := map[string]bool{}
	for _, f := range r.failures {
		if !f.ignored && !f.rescued && r.hostFailed(f) {
			counted = append(counted, f)
			explained[f.failure.Host] = true
		}
	}
	if r.recap == nil {
		return counted
	}
	for _, f := range r.failures {
		if host := f.failure.Host; f.rescued && !explained[host] && r.hostFailed(f) {
			counted = append(counted, f)
		}
	}
	return counted
}

func (r *recorder) hostFailed(f failed) bool {
	switch {
	case r.recap == nil:
		return true
	case f.unreachable:
		return r.recap.Unreachable[f.failure.Host] > 0
	default:
		return r.recap.Failures[f.failure.Host] > 0
	}
}

// stats returns the counts for localhost, nil if the play did not come to its recap.
func (r *recorder) stats() *engine.Stats {
	if r.recap == nil {
		return nil
	}
	return &engine.Stats{
		OK:        r.recap.OK[localhost],
		Changed:   r.recap.Changed[localhost],
		Skipped:   r.recap.Skipped[localhost],
		Failures:  r.recap.Failures[localhost],
		Completed: r.ended,
	}
}

// changed reports whether the play changed something on any host. A list of tasks or a check of the syntax, which the
// user's arguments may ask for, has no recap and changes nothing.
func (r *recorder) changed() bool {
	if r.recap == nil {
		return false
	}
	for _, n := range r.recap.Changed {
		if n > 0 {
			return true
		}
	}
	return false
}
