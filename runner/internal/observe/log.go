package observe

import (
	"time"

	"github.com/go-logr/logr"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Keys of log lines.
const (
	KeyRun        = "run"
	KeyJob        = "job" // what ansible-operator calls it
	KeyKind       = "kind"
	KeyGroup      = "group"
	KeyVersion    = "version"
	KeyNamespace  = "namespace"
	KeyName       = "name"
	KeyMode       = "mode"
	KeyTrigger    = "trigger"
	KeyAttempt    = "attempt"
	KeyOutcome    = "outcome"
	KeyReason     = "reason"
	KeyMessage    = "message"
	KeyDuration   = "duration"
	KeyWaited     = "waited"
	KeyMemory     = "memoryBytes"
	KeyRequests   = "requests"
	KeyProcesses  = "processes"
	KeyExecutor   = "executor"
	KeyFallback   = "fallback"
	KeyOK         = "ok"
	KeyChanged    = "changed"
	KeySkipped    = "skipped"
	KeyFailures   = "failures"
	KeyRelease    = "release"
	KeyRevision   = "revision"
	KeyRetryAfter = "retryAfter"
)

// Line is a log line about a run.
type Line struct {
	Message string
	// Failed says that the line is for the error level.
	Failed bool
	// KeysAndValues go with the line.
	KeysAndValues []any
}

// Log writes the line.
func (l Line) Log(log logr.Logger) {
	if l.Failed {
		log.Error(nil, l.Message, l.KeysAndValues...)
		return
	}
	log.Info(l.Message, l.KeysAndValues...)
}

// Summarize returns the one log line that sums up a run. For good runs the message is the line that the old tools
// logged, since people's scripts wait for it.
func Summarize(r Run) Line {
	return Line{Message: r.message(), Failed: r.failed(), KeysAndValues: r.keysAndValues()}
}

func (r Run) message() string {
	switch r.Result.Outcome {
	case engine.Succeeded, engine.Changed:
		if r.Chart {
			return r.releaseMessage()
		}
		return "Ansible-runner exited successfully"
	case engine.Waiting:
		return "Run waits"
	case engine.Cancelled:
		return "Run was interrupted"
	case engine.TimedOut:
		return "Run timed out"
	case engine.Transient, engine.Permanent:
		return "Run failed"
	default:
		return "Run ended"
	}
}

func (r Run) releaseMessage() string {
	action := engine.ActionNone
	switch {
	case r.Job.Mode == engine.Finalize:
		action = engine.ActionUninstall
	case r.Result.Release != nil:
		action = r.Result.Release.Action
	}
	switch action {
	case engine.ActionInstall:
		return "Installed release"
	case engine.ActionUpgrade:
		return "Upgraded release"
	case engine.ActionUninstall:
		return "Uninstalled release"
	default:
		return "Reconciled release"
	}
}

// keysAndValues leaves out what says nothing.
func (r Run) keysAndValues() []any {
	job, result := r.Job, r.Result
	list := []any{
		KeyMode, string(job.Mode), KeyTrigger, string(job.Trigger), KeyOutcome, string(result.Outcome),
		KeyDuration, r.duration().Round(time.Millisecond).String(),
	}
	add := func(key string, value any, worth bool) {
		if worth {
			list = append(list, key, value)
		}
	}
	add(KeyJob, job.ID, !r.Chart)
	add(KeyAttempt, job.Attempt, job.Attempt > 1)
	add(KeyReason, result.Reason, result.Reason != "")
	add(KeyMessage, shorten(result.Message), result.Message != "" && !result.Outcome.OK())
	add(KeyRetryAfter, result.RetryAfter.String(), result.RetryAfter > 0)
	add(KeyWaited, r.Waited.Round(time.Millisecond).String(), r.Waited >= time.Millisecond)
	add(KeyRequests, result.APIRequests, result.APIRequests > 0)
	add(KeyProcesses, result.Processes, result.Processes > 0)
	add(KeyExecutor, result.Executor, result.Executor != "")
	add(KeyFallback, result.Fallback, result.Fallback != "")
	add(KeyMemory, result.MaxRSSBytes, result.MaxRSSBytes > 0)
	if s := result.Stats; s != nil {
		list = append(list, KeyOK, s.OK, KeyChanged, s.Changed, KeySkipped, s.Skipped, KeyFailures, s.Failures)
	}
	if release := result.Release; release != nil {
		list = append(list, KeyRelease, release.Name, KeyRevision, release.Version)
	}
	return list
}

// OwnerKeysAndValues name the resource of a line. Loggers of a controller get them once.
func OwnerKeysAndValues(owner engine.Owner) []any {
	return []any{KeyKind, owner.Kind, KeyNamespace, owner.Namespace, KeyName, owner.Name}
}
