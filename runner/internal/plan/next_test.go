package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

var usualRetry = watches.Retry{Backoff: time.Second, MaxBackoff: 5 * time.Minute}

// twice allows two repetitions, the first after ten seconds.
func twice(e *Ended) { e.Retry.Limit, e.Retry.Backoff = new(2), 10*time.Second }

func TestAfter(t *testing.T) {
	ended := func(outcome engine.Outcome, change func(*Ended)) Ended {
		e := Ended{Result: engine.Result{Outcome: outcome}, Mode: engine.Reconcile, Attempt: 1, Period: time.Hour, Random: 0.5, Retry: usualRetry}
		if change != nil {
			change(&e)
		}
		return e
	}
	finalize := func(e *Ended) { e.Mode = engine.Finalize }
	for name, c := range map[string]struct {
		reason string
		in     Ended
		want   Next
	}{
		"Good":           {"the period, spread a little", ended(engine.Succeeded, nil), Next{63 * time.Minute, engine.TriggerPeriod}},
		"Changed":        {"a change is as good", ended(engine.Changed, func(e *Ended) { e.Random = 0 }), Next{time.Hour, engine.TriggerPeriod}},
		"NoPeriod":       {"zero means never (E4)", ended(engine.Succeeded, func(e *Ended) { e.Period = 0 }), Next{}},
		"NegPeriod":      {"a negative annotation means never, as it always did", ended(engine.Succeeded, func(e *Ended) { e.Period = -time.Second }), Next{}},
		"Asked":          {"requeue_after wins over the period", ended(engine.Succeeded, func(e *Ended) { e.Result.RetryAfter = 2 * time.Second }), Next{2 * time.Second, engine.TriggerRetry}},
		"Waits":          {"waiting has a pace of its own", ended(engine.Waiting, nil), Next{10 * time.Second, engine.TriggerRetry}},
		"WaitsAsked":     {"unless the author sets it", ended(engine.Waiting, func(e *Ended) { e.Result.RetryAfter = time.Minute }), Next{time.Minute, engine.TriggerRetry}},
		"Failed":         {"the first retry comes soon", ended(engine.Transient, nil), Next{time.Second, engine.TriggerRetry}},
		"FailedOften":    {"later ones do not hammer", ended(engine.Transient, func(e *Ended) { e.Attempt = 4 }), Next{8 * time.Second, engine.TriggerRetry}},
		"FailedSlowly":   {"the watch sets the pace", ended(engine.Transient, func(e *Ended) { twice(e); e.Attempt = 2 }), Next{20 * time.Second, engine.TriggerRetry}},
		"FailedTooOften": {"the budget is spent: neither a retry nor a period", ended(engine.Transient, func(e *Ended) { twice(e); e.Attempt = 3 }), Next{}},
		"TimedOut":       {"a timeout is retried", ended(engine.TimedOut, nil), Next{time.Second, engine.TriggerRetry}},
		"Permanent":      {"no retry, but the period", ended(engine.Permanent, nil), Next{63 * time.Minute, engine.TriggerPeriod}},
		"PermanentAsked": {"what is permanent is not hurried",
			ended(engine.Permanent, func(e *Ended) { e.Result.RetryAfter = time.Second }), Next{63 * time.Minute, engine.TriggerPeriod}},
		"Cancelled":          {"soon, by whoever leads then", ended(engine.Cancelled, nil), Next{time.Second, engine.TriggerRetry}},
		"Finalized":          {"what is gone has no period", ended(engine.Changed, finalize), Next{}},
		"FinalizerFailed":    {"deletion is tried again", ended(engine.Transient, finalize), Next{time.Second, engine.TriggerRetry}},
		"FinalizerPermanent": {"however it failed, for a stuck namespace is worse", ended(engine.Permanent, finalize), Next{time.Second, engine.TriggerRetry}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, After(c.in)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	for attempt, want := range map[int]time.Duration{
		-1: time.Second, 0: time.Second, 1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 9: 256 * time.Second,
		10: 5 * time.Minute, 64: 5 * time.Minute, 1 << 40: 5 * time.Minute,
	} {
		if got := Backoff(usualRetry, attempt); got != want {
			t.Errorf("after attempt %d: %v, want %v", attempt, got, want)
		}
	}
}

func TestExhausted(t *testing.T) {
	for _, c := range []struct {
		reason   string
		limit    *int
		failures int
		want     bool
	}{
		{"no limit, no end", nil, 1000, false},
		{"the first failure is no repetition yet", new(0), 0, false},
		{"no repetition at all", new(0), 1, true},
		{"the last repetition is to come", new(2), 2, false},
		{"it has failed, too", new(2), 3, true},
	} {
		if got := Exhausted(watches.Retry{Limit: c.limit}, c.failures); got != c.want {
			t.Errorf("%s: got %v", c.reason, got)
		}
	}
}

func TestPeriodSpread(t *testing.T) {
	for _, random := range []float64{0, 0.25, 0.999999} {
		got := After(Ended{Result: engine.Result{Outcome: engine.Succeeded}, Period: time.Minute, Random: random}).After
		if got < time.Minute || got >= 66*time.Second {
			t.Errorf("random %v gives %v, want it in [60s, 66s)", random, got)
		}
	}
}
