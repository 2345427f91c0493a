package enginetest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/enginetest"
)

func TestFakeQueueComesBeforeScript(t *testing.T) {
	broken := errors.New("no disk")
	f := &enginetest.Fake{Script: enginetest.Return(engine.Result{Outcome: engine.Changed})}
	f.Queue(enginetest.Return(engine.Result{Outcome: engine.Waiting}), enginetest.Break(broken))

	var got []engine.Outcome
	for range 3 {
		result, err := f.Run(t.Context(), engine.Job{})
		if err != nil {
			if !errors.Is(err, broken) {
				t.Errorf("unexpected error: %v", err)
			}
			continue
		}
		got = append(got, result.Outcome)
	}
	if diff := cmp.Diff([]engine.Outcome{engine.Waiting, engine.Changed}, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

func TestFakeRecordsCopies(t *testing.T) {
	var f enginetest.Fake
	job := engine.Job{ID: "a", Inputs: map[string]any{"list": []any{"one"}}}
	if _, err := f.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	job.Inputs["list"].([]any)[0] = "two"
	want := []engine.Job{{ID: "a", Inputs: map[string]any{"list": []any{"one"}}}}
	if diff := cmp.Diff(want, f.Jobs()); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

func TestFakeNoticesOverlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := &enginetest.Fake{Script: enginetest.Block()}
		one := engine.Owner{Name: "one", Generation: 1}
		again := engine.Owner{Name: "one", Generation: 2}
		for _, owner := range []engine.Owner{one, again, {Name: "two"}} {
			go func() { _, _ = f.Run(ctx, engine.Job{Owner: owner}) }()
		}
		if err := f.WaitStarted(ctx, 3); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := f.WaitEnded(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]engine.Owner{{Name: "one"}}, f.Overlaps()); diff != "" {
			t.Errorf("overlaps (-want +got):\n%s", diff)
		}
	})
}

func TestFakeEndsAtTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &enginetest.Fake{Script: enginetest.Block()}
		result, err := f.Run(t.Context(), engine.Job{Timeout: time.Hour})
		if err != nil || result.Outcome != engine.TimedOut {
			t.Errorf("got %s, %v, want TimedOut", result.Outcome, err)
		}
		if took := result.Finished.Sub(result.Started); took != time.Hour {
			t.Errorf("took %v, want 1h", took)
		}
	})
}

func TestFakeWaitsForGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		f := &enginetest.Fake{Script: enginetest.After(open, enginetest.Return(engine.Result{}))}
		done := make(chan engine.Outcome, 1)
		go func() {
			result, _ := f.Run(t.Context(), engine.Job{})
			done <- result.Outcome
		}()
		synctest.Wait()
		if f.Running() != 1 {
			t.Errorf("%d runs, want 1 that waits", f.Running())
		}
		close(open)
		if got := <-done; got != engine.Succeeded {
			t.Errorf("outcome %s, want Succeeded", got)
		}
	})
}

func TestFakeWaitEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var f enginetest.Fake
	if err := f.WaitStarted(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
