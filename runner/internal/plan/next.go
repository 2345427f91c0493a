package plan

import (
	"math"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Back-off of failed runs.
const (
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
)

// waitingRetry is when a run that waits for something is repeated, if it does not say so itself.
const waitingRetry = 10 * time.Second

// jitter is the share of a period by which periodic runs are spread, so that resources made together do not run
// together for ever.
const jitter = 0.1

// Ended is what is known when a run has ended.
type Ended struct {
	Result engine.Result
	// Mode of the run.
	Mode engine.Mode
	// Attempt counts the runs since the last success, from 1, this one included.
	Attempt int
	// Period is how long after a good run the next one follows; zero or negative means never.
	Period time.Duration
	// Random is a number in [0,1).
	Random float64
}

// Next is when a resource is looked at again by itself.
type Next struct {
	After   time.Duration  // zero: not before something changes
	Trigger engine.Trigger // what to call it
}

// After returns when the resource of a run that has ended is looked at again.
func After(e Ended) Next {
	switch r := e.Result; {
	case r.RetryAfter > 0 && r.Outcome != engine.Permanent:
		return Next{After: r.RetryAfter, Trigger: engine.TriggerRetry}
	case r.Outcome.OK():
		return e.periodic()
	case r.Outcome == engine.Permanent && e.Mode == engine.Reconcile:
		return e.periodic()
	case r.Outcome == engine.Cancelled:
		return Next{After: firstRetry, Trigger: engine.TriggerRetry}
	case r.Outcome == engine.Waiting:
		return Next{After: waitingRetry, Trigger: engine.TriggerRetry}
	}
	return Next{After: Backoff(e.Attempt), Trigger: engine.TriggerRetry}
}

func (e Ended) periodic() Next {
	if e.Period <= 0 || e.Mode == engine.Finalize {
		return Next{}
	}
	spread := float64(e.Period) * jitter * e.Random
	return Next{After: e.Period + time.Duration(spread), Trigger: engine.TriggerPeriod}
}

// Backoff returns the wait after the attempt-th failed run in a row: 1 s, 2 s, 4 s ... 5 min.
func Backoff(attempt int) time.Duration {
	exponent := float64(max(attempt, 1) - 1)
	wait := float64(firstRetry) * math.Pow(2, min(exponent, 30))
	return min(time.Duration(wait), lastRetry)
}
