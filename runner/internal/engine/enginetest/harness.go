package enginetest

import (
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Scenario is a kind of content that an engine is tried with.
type Scenario string

// The scenarios. Apply, Fail, Hang and Finalize are required of every engine.
const (
	// Apply makes something for its owner: Changed the first time, Succeeded when it is there already.
	Apply Scenario = "Apply"
	// Fail cannot be done: a task fails, an object is refused. The outcome is Transient or Permanent.
	Fail Scenario = "Fail"
	// Hang begins and never ends by itself.
	Hang Scenario = "Hang"
	// Finalize is as Apply, and a job with Mode Finalize takes away what it made.
	Finalize Scenario = "Finalize"
	// Broken does not parse or load.
	Broken Scenario = "Broken"
	// Wait finds that something is not there yet: outcome Waiting.
	Wait Scenario = "Wait"
	// Leak fails while it handles an input whose value is [Secret], which the content has marked as secret
	// in the way that its engine knows (no_log, a Secret object).
	Leak Scenario = "Leak"
)

// Secret is the value that must not come out of a run of [Leak].
const Secret = "canary-5a1d-do-not-print" //nolint:gosec // it guards nothing

// required are the scenarios without which a thing is no engine.
var required = []Scenario{Apply, Fail, Hang, Finalize}

// Harness makes content for one engine. Each test of the suite gets a new one.
type Harness struct {
	// Engine returns the engine for the content of s. Asked twice, it may return the same one; two engines of
	// one harness see the same world, so that what one made the other finds.
	Engine func(t *testing.T, s Scenario) engine.Engine
	// Job returns a job for s and an owner of this name (lower-case letters, digits, "-"). The suite sets ID,
	// Trigger, Attempt and Mode where they are empty, and Timeout and Progress as it needs them.
	Job func(t *testing.T, s Scenario, owner string) engine.Job
	// Effects lists, in any form, what runs of Apply and Finalize left in the world for this owner: files,
	// objects, releases. Nil skips the checks that need it.
	Effects func(t *testing.T, owner string) []string
	// Alive lists what still runs on behalf of the engine: processes, hooks. It may wait a moment for what is
	// about to end. Nil skips the check.
	Alive func(t *testing.T) []string
	// WaitRunning returns when the run of a Hang job is well under way. Nil means that the job's first
	// progress event says so.
	WaitRunning func(t *testing.T, job engine.Job)
	// Unsupported are the scenarios that the engine does not have, each with the reason.
	Unsupported map[Scenario]string
	// Timeout is the job timeout used with Hang: long enough for the run to get going. Default 3 s.
	Timeout time.Duration
	// Soon is how long a run may take to end once it was told to. Default 15 s.
	Soon time.Duration
	// Limit is how long any single run may take before the suite calls it stuck. Default 2 min.
	Limit time.Duration
}

func (h Harness) withDefaults() Harness {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&h.Timeout, 3 * time.Second}, {&h.Soon, 15 * time.Second}, {&h.Limit, 2 * time.Minute}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return h
}
