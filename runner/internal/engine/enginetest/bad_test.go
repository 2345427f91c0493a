package enginetest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/enginetest"
)

// badEngine names the variable that makes this test binary try a bad engine.
const badEngine = "CHARTBOOK_TEST_BAD_ENGINE"

// runFunc is an engine made of its Run method.
type runFunc func(context.Context, engine.Job) (engine.Result, error)

func (f runFunc) Run(ctx context.Context, job engine.Job) (engine.Result, error) { return f(ctx, job) }

func (runFunc) Ready(context.Context) error { return nil }

// bad are engines that break one promise each.
var bad = []struct {
	name   string
	reason string
	engine func(good runFunc) runFunc
	fails  string // the subtest that must notice
}{
	{"changes-job", "the controller compares and reuses inputs", func(good runFunc) runFunc {
		return func(ctx context.Context, job engine.Job) (engine.Result, error) {
			job.Inputs["added"] = true
			return good(ctx, job)
		}
	}, "changes,_then_finds_nothing_to_do"},
	{"panics", "one bad resource must not end the operator", func(runFunc) runFunc {
		return func(context.Context, engine.Job) (engine.Result, error) { panic("oh") }
	}, "refuses_broken_content"},
	{"no-times", "the run's duration is a metric", func(good runFunc) runFunc {
		return func(ctx context.Context, job engine.Job) (engine.Result, error) {
			result, err := good(ctx, job)
			result.Started = time.Time{}
			return result, err
		}
	}, "says_what_failed"},
	{"always-changed", "a resource that never settles is run for ever", func(good runFunc) runFunc {
		return func(ctx context.Context, job engine.Job) (engine.Result, error) {
			result, err := good(ctx, job)
			if result.Outcome == engine.Succeeded {
				result.Outcome = engine.Changed
			}
			return result, err
		}
	}, "changes,_then_finds_nothing_to_do"},
	{"calls-a-timeout-cancelled", "the two are told apart in status", func(good runFunc) runFunc {
		return func(ctx context.Context, job engine.Job) (engine.Result, error) {
			result, err := good(ctx, job)
			if result.Outcome == engine.TimedOut {
				result.Outcome = engine.Cancelled
			}
			return result, err
		}
	}, "ends_at_its_timeout"},
	{"calls-a-cancellation-timed-out", "a shutdown must not count as a failure", func(good runFunc) runFunc {
		return func(ctx context.Context, job engine.Job) (engine.Result, error) {
			result, err := good(ctx, job)
			if result.Outcome == engine.Cancelled {
				result.Outcome = engine.TimedOut
			}
			return result, err
		}
	}, "takes_a_context's_deadline_for_a_cancellation"},
	{"starts-when-cancelled", "after the lease is lost nothing may be written", func(good runFunc) runFunc {
		return func(ctx context.Context, job engine.Job) (engine.Result, error) {
			return good(context.WithoutCancel(ctx), job)
		}
	}, "does_nothing_once_cancelled"},
	{"late-progress", "the log of a run is closed when it returns", func(good runFunc) runFunc {
		var last func(engine.Event)
		return func(ctx context.Context, job engine.Job) (engine.Result, error) {
			if last != nil {
				last(engine.Event{Kind: engine.EventNote})
			}
			last = job.Progress
			return good(ctx, job)
		}
	}, "changes,_then_finds_nothing_to_do"},
	{"leaks", "secrets must not reach status", func(good runFunc) runFunc {
		return func(ctx context.Context, job engine.Job) (engine.Result, error) {
			result, err := good(ctx, job)
			for i := range result.Failures {
				result.Failures[i].Message = "password " + enginetest.Secret + " refused"
			}
			return result, err
		}
	}, "keeps_secrets"},
	{"mute", "a condition needs a message", func(good runFunc) runFunc {
		return func(ctx context.Context, job engine.Job) (engine.Result, error) {
			result, err := good(ctx, job)
			result.Message = ""
			return result, err
		}
	}, "says_what_failed"},
	{"finalizes-once", "the operator may be killed after the clean-up", func(good runFunc) runFunc {
		return func(ctx context.Context, job engine.Job) (engine.Result, error) {
			result, err := good(ctx, job)
			if job.Mode == engine.Finalize && result.Outcome == engine.Succeeded {
				return engine.Result{}, errors.New("not found")
			}
			return result, err
		}
	}, "finalizes_twice"},
}

// TestBadEngine is run by TestConformanceNotices in a process of its own, since it has to fail.
func TestBadEngine(t *testing.T) {
	name := os.Getenv(badEngine)
	if name == "" {
		t.Skip("a helper of TestConformanceNotices")
	}
	for _, b := range bad {
		if b.name != name {
			continue
		}
		enginetest.Conformance(t, func(*testing.T) enginetest.Harness {
			w := newWorld()
			h := w.harness()
			h.Soon, h.Limit = 2*time.Second, 10*time.Second
			e := b.engine(w.fake.Run)
			h.Engine = func(*testing.T, enginetest.Scenario) engine.Engine { return e }
			return h
		})
	}
}

func TestConformanceNotices(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bad {
		t.Run(b.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), self, "-test.v",
				"-test.run=^TestBadEngine$/^"+regexp.QuoteMeta(b.fails)+"$")
			cmd.Env = append(os.Environ(), badEngine+"="+b.name)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("the suite passes an engine that it must not pass: %s", b.reason)
			}
			if failed := failedSubtests(out); !slices.Contains(failed, b.fails) {
				t.Errorf("subtest %s did not fail, only %v\n%s", b.fails, failed, out)
			}
		})
	}
}

// TestConformanceSkips: a scenario that is not required may be missing.
func TestConformanceSkips(t *testing.T) {
	reason := "the fake cannot wait"
	t.Run("optional", func(t *testing.T) {
		enginetest.Conformance(t, func(*testing.T) enginetest.Harness {
			h := newWorld().harness()
			h.Unsupported = map[enginetest.Scenario]string{enginetest.Wait: reason}
			return h
		})
	})
}

var failLine = regexp.MustCompile(`(?m)^\s*--- FAIL: TestBadEngine/(\S+)`)

func failedSubtests(out []byte) []string {
	var names []string
	for _, m := range failLine.FindAllSubmatch(out, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

func TestFailedSubtests(t *testing.T) {
	out := "--- FAIL: TestBadEngine (0.00s)\n    --- PASS: TestBadEngine/a (0.00s)\n    --- FAIL: TestBadEngine/b_c (0.00s)\n"
	if diff := cmp.Diff([]string{"b_c"}, failedSubtests([]byte(out))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
