package enginetest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/enginetest"
)

func TestFakeConforms(t *testing.T) {
	enginetest.Conformance(t, func(*testing.T) enginetest.Harness { return newWorld().harness() })
}

// world is what the content of the fake engine acts upon.
type world struct {
	mu   sync.Mutex
	made map[string]bool
	fake *enginetest.Fake
}

func newWorld() *world {
	w := &world{made: map[string]bool{}}
	w.fake = &enginetest.Fake{Script: w.play}
	return w
}

func (w *world) harness() enginetest.Harness {
	return enginetest.Harness{
		Engine: func(*testing.T, enginetest.Scenario) engine.Engine { return w.fake },
		Job: func(_ *testing.T, s enginetest.Scenario, owner string) engine.Job {
			return engine.Job{
				Owner:  engine.Owner{APIVersion: "example.com/v1", Kind: "Thing", Namespace: "default", Name: owner},
				Inputs: map[string]any{"scenario": string(s), "password": enginetest.Secret},
			}
		},
		Effects: func(_ *testing.T, owner string) []string {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.made[owner] {
				return []string{owner}
			}
			return nil
		},
		Alive: func(*testing.T) []string {
			if w.fake.Running() > 0 {
				return []string{"a run"}
			}
			return nil
		},
		Timeout: 50 * time.Millisecond,
		Soon:    5 * time.Second,
	}
}

// play is the content: it does what the input "scenario" says.
func (w *world) play(ctx context.Context, job engine.Job) (engine.Result, error) {
	if job.Progress != nil {
		job.Progress(engine.Event{Kind: engine.EventTaskStarted, Task: "the only one"})
	}
	switch enginetest.Scenario(job.Inputs["scenario"].(string)) {
	case enginetest.Fail, enginetest.Leak:
		return engine.Result{Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Message: "no luck",
			Failures: []engine.Failure{{Name: "the only one", Message: "no luck"}}}, nil
	case enginetest.Hang:
		return enginetest.Block()(ctx, job)
	case enginetest.Broken:
		return engine.Result{}, errors.New("content does not parse")
	case enginetest.Wait:
		return engine.Result{Outcome: engine.Waiting, Reason: "NotThereYet", RetryAfter: time.Second}, nil
	default:
		return w.change(job)
	}
}

// change makes the owner's thing, or takes it away.
func (w *world) change(job engine.Job) (engine.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	want := job.Mode == engine.Reconcile
	if w.made[job.Owner.Name] == want {
		return engine.Result{Outcome: engine.Succeeded}, nil
	}
	if w.made[job.Owner.Name] = want; !want {
		delete(w.made, job.Owner.Name)
	}
	return engine.Result{Outcome: engine.Changed}, nil
}
