package plan

import (
	"math"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// afterInterruption is when a run that was cut short is repeated, if the process does not end.
const afterInterruption = time.Second

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
	// Retry is the watch's budget for failed runs.
	Retry watches.Retry
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
		return Next{After: afterInterruption, Trigger: engine.TriggerRetry}
	case r.Outcome == engine.Waiting:
		return Next{After: waitingRetry, Trigger: engine.TriggerRetry}
	}
	if Exhausted(e.Retry, e.Attempt) {
		return Next{}
	}
	return Next{After: Backoff(e.Retry, e.Attempt), Trigger: engine.TriggerRetry}
}

func (e Ended) periodic() Next {
	if e.Period <= 0 || e.Mode == engine.Finalize {
		return Next{}
	}
	return Next{After: spread(e.Period, e.Random), Trigger: engine.TriggerPeriod}
}

// spread adds up to a tenth to a period. random is in [0,1).
func spread(period time.Duration, random float64) time.Duration {
	return period + time.Duration(float64(period)*jitter*random)
}

// Backoff returns the wait after the attempt-th failed run in a row: by default 1 s, 2 s, 4 s ... 5 min.
func Backoff(retry watches.Retry, attempt int) time.Duration {
	exponent := float64(max(attempt, 1) - 1)
	wait := float64(retry.Backoff) * math.Pow(2, min(exponent, 30))
	return time.Duration(min(wait, float64(retry.MaxBackoff)))
}

// Exhausted reports whether so many failed runs in a row, the first and its repetitions, use up the budget.
func Exhausted(retry watches.Retry, failures int) bool {
	return retry.Limit != nil && failures > *retry.Limit
}
