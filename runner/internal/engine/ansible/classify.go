package ansible

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// ending is all that is known when a run is over.
type ending struct {
	exit     process.Exit
	program  string // whose exit it is
	cause    error  // why the run was stopped, if it was
	timeout  time.Duration
	stderr   string
	recorder *recorder
	root     string // of the content, for file names in messages
}

// errTimeout is the cause of a context that the job's timeout has ended.
var errTimeout = errors.New("the run's timeout is over")

// Exit codes of ansible-playbook that say more than that it failed.
const (
	codeUsage      = 2 // argparse; also: some hosts failed
	codeParseError = 4 // also: some hosts were unreachable
	codeOptions    = 5
)

// classify decides what a run came to: whether it was ended from outside, then what its events say, then its exit
// code.
func classify(end ending) engine.Result {
	r := end.recorder
	result := engine.Result{Stats: r.stats()}
	outputs, said, problem := end.outputs()
	result.Outputs = outputs
	failures := r.unresolved()
	switch {
	case end.exit.Stopped && !end.complete():
		end.stopped(&result)
	case len(failures) > 0:
		end.failed(&result, failures, said)
	case end.exit.Signal != 0, end.exit.Code < 0:
		end.killed(&result)
	case end.exit.Code != 0:
		end.gaveUp(&result)
	case problem != nil:
		fail(&result, engine.Transient, engine.ReasonPlaybookError, problem.Error())
	default:
		end.succeeded(&result, said)
	}
	return result
}

// complete reports whether the play came to a good end although it was told to stop: it was as good as done then.
func (end ending) complete() bool {
	return end.recorder.recap != nil && end.exit.Code == 0 && end.exit.Signal == 0
}

func fail(result *engine.Result, outcome engine.Outcome, reason, message string) {
	result.Outcome, result.Reason, result.Message = outcome, reason, message
}

// outputs returns what set_stats has collected.
func (end ending) outputs() (map[string]any, verdict, error) {
	recap := end.recorder.recap
	if recap == nil {
		return nil, verdict{}, nil
	}
	if recap.OutputBytes > 0 {
		return nil, verdict{}, fmt.Errorf("the data of set_stats has %d bytes, more than can be kept", recap.OutputBytes)
	}
	return parseOutputs(recap.Outputs)
}

func (end ending) stopped(result *engine.Result) {
	where := ""
	if task := end.recorder.current; task.Task != "" {
		file, line := splitPath(task.Path)
		where = fmt.Sprintf(" in task %q (%s)", task.Task, place(file, line, end.root))
	}
	if errors.Is(end.cause, errTimeout) {
		fail(result, engine.TimedOut, engine.ReasonDeadlineExceeded,
			fmt.Sprintf("the run was ended after its timeout of %s%s", end.timeout, where))
		return
	}
	fail(result, engine.Cancelled, engine.ReasonCancelled, "the run was ended from outside"+where)
}

func (end ending) failed(result *engine.Result, failures []failed, said verdict) {
	reason := engine.ReasonUnreachable
	for _, f := range failures {
		result.Failures = append(result.Failures, f.failure)
		if !f.unreachable {
			reason = engine.ReasonTaskFailed
		}
	}
	fail(result, engine.Transient, reason, describeAll(result.Failures, end.root))
	if said.outcome == verdictPermanent {
		fail(result, engine.Permanent, cmp.Or(said.reason, reason), cmp.Or(said.message, result.Message))
	}
}

func (end ending) killed(result *engine.Result) {
	text := end.program + " was ended by a signal"
	if end.exit.Signal != 0 {
		text = fmt.Sprintf("%s was ended by signal %d (%s)", end.program, int(end.exit.Signal), end.exit.Signal)
	}
	fail(result, engine.Transient, engine.ReasonKilled, text)
}

// gaveUp is a run whose events do not tell why it failed: ansible-playbook did not get to the tasks, or an error ended
// all of it.
func (end ending) gaveUp(result *engine.Result) {
	said := parseStderr(end.stderr)
	text := cmp.Or(said.text, fmt.Sprintf("%s ended with exit code %d and did not say why", end.program, end.exit.Code))
	failure := engine.Failure{File: said.file, Line: said.line, Message: text}
	if said.file != "" {
		text = fmt.Sprintf("%s: %s", place(said.file, said.line, end.root), text)
	}
	result.Failures = []engine.Failure{failure}
	switch {
	case end.exit.Code == codeParseError && end.recorder.recap == nil:
		fail(result, engine.Permanent, engine.ReasonSyntaxError, text)
	case said.options && end.exit.Code == codeUsage, end.exit.Code == codeOptions:
		fail(result, engine.Permanent, engine.ReasonPlaybookError, "ansible-playbook refuses its arguments: "+text)
	case end.recorder.current.Task == "" && isMissing(said):
		fail(result, engine.Permanent, engine.ReasonPlaybookError, text)
	default:
		fail(result, engine.Transient, engine.ReasonPlaybookError, text)
	}
}

// isMissing reports whether a part of the content was not found: a role, an imported file. Only a new image or
// another resource changes that. Vault passwords are mounted, hence may come late.
func isMissing(said complaint) bool {
	text := strings.ToLower(said.text)
	missing := strings.Contains(text, "not found") || strings.Contains(text, "could not find")
	return missing && !strings.Contains(text, "vault")
}

func (end ending) succeeded(result *engine.Result, said verdict) {
	result.Outcome = engine.Succeeded
	if end.recorder.changed() {
		result.Outcome = engine.Changed
	}
	if asked := end.recorder.requeue; asked != nil && !end.requeue(result, *asked) {
		return
	}
	switch said.outcome {
	case verdictWaiting:
		fail(result, engine.Waiting, cmp.Or(said.reason, "Waiting"), said.message)
	case verdictPermanent:
		fail(result, engine.Permanent, cmp.Or(said.reason, engine.ReasonTaskFailed), said.message)
	default:
		return
	}
	if said.retryAfter > 0 {
		result.RetryAfter = said.retryAfter
	}
}

// requeue carries out what a task with requeue_after asked for, or makes the run a failed one where it cannot.
func (end ending) requeue(result *engine.Result, asked requeue) bool {
	var err error
	if asked.period == "" {
		err = errors.New("the time to run again after is hidden; take no_log off")
	} else {
		result.RetryAfter, err = period(asked.period)
	}
	if err == nil {
		return true
	}
	file, line := splitPath(asked.task.Path)
	failure := engine.Failure{Name: asked.task.Task, Host: asked.task.Host, File: file, Line: line, Message: err.Error()}
	result.Failures = []engine.Failure{failure}
	fail(result, engine.Transient, engine.ReasonTaskFailed, describe(failure, end.root))
	return false
}
