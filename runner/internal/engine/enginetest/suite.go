package enginetest

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// suite is one subtest with its harness. It runs jobs and checks what holds for every run.
type suite struct {
	Harness
	t         *testing.T
	ids       atomic.Int64
	recorders recorders
}

func newSuite(t *testing.T, h Harness) *suite {
	t.Helper()
	s := &suite{Harness: h, t: t}
	t.Cleanup(func() {
		// As late as possible, to catch what an engine left behind.
		for _, event := range s.recorders.late() {
			t.Errorf("Progress was called after Run had returned: %+v", event)
		}
	})
	return s
}

// answer is what Run returned.
type answer struct {
	result   engine.Result
	err      error
	panicked any
	stack    []byte
	took     time.Duration
	events   []engine.Event
}

// job returns a job that is complete but for its Progress.
func (s *suite) job(scenario Scenario, owner string) engine.Job {
	s.t.Helper()
	job := s.Job(s.t, scenario, owner)
	if job.ID == "" {
		job.ID = fmt.Sprintf("conformance-%d", s.ids.Add(1))
	}
	if job.Mode == "" {
		job.Mode = engine.Reconcile
	}
	if job.Trigger == "" {
		job.Trigger = engine.TriggerSpec
	}
	if job.Attempt == 0 {
		job.Attempt = 1
	}
	return job
}

// start begins a run; the answer comes through the channel.
func (s *suite) start(ctx context.Context, e engine.Engine, job engine.Job, rec *recorder) <-chan answer {
	if rec != nil {
		job.Progress = rec.add
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		begin := time.Now()
		defer func() {
			if a.panicked = recover(); a.panicked != nil {
				a.stack = debug.Stack()
			}
			a.took = time.Since(begin)
			a.events = rec.close()
			answers <- a
		}()
		a.result, a.err = e.Run(ctx, job)
	}()
	return answers
}

// finish waits for the answer and checks what holds for every run.
func (s *suite) finish(answers <-chan answer, before, job engine.Job) answer {
	s.t.Helper()
	limit := time.NewTimer(s.Limit)
	defer limit.Stop()
	select {
	case a := <-answers:
		if a.panicked != nil {
			s.t.Fatalf("Run panicked: %v\n%s", a.panicked, a.stack)
		}
		for _, problem := range problems(a) {
			s.t.Errorf("run %s: %s", job.ID, problem)
		}
		if diff := cmp.Diff(before, job, cmpopts.IgnoreFields(engine.Job{}, "Progress")); diff != "" {
			s.t.Errorf("Run changed its job (-before +after):\n%s", diff)
		}
		return a
	case <-limit.C:
		s.t.Fatalf("Run did not return within %v", s.Limit)
		return answer{}
	}
}

// run runs job to its end.
func (s *suite) run(ctx context.Context, e engine.Engine, job engine.Job) answer {
	s.t.Helper()
	before := cloneJob(job)
	return s.finish(s.start(ctx, e, job, s.recorders.add()), before, job)
}

// want runs a new job and fails unless it ends with one of the outcomes.
func (s *suite) want(e engine.Engine, job engine.Job, outcomes ...engine.Outcome) engine.Result {
	s.t.Helper()
	a := s.run(s.t.Context(), e, job)
	s.outcome(a, outcomes...)
	return a.result
}

func (s *suite) outcome(a answer, outcomes ...engine.Outcome) {
	s.t.Helper()
	if a.err != nil {
		s.t.Fatalf("Run returned an error: %v, want outcome %v", a.err, outcomes)
	}
	if slices.Contains(outcomes, a.result.Outcome) {
		return
	}
	s.t.Fatalf("outcome is %s (reason %q, message %q), want %v", a.result.Outcome, a.result.Reason, a.result.Message, outcomes)
}

// effects returns what runs left for owner as one text, and whether the harness can tell.
func (s *suite) effects(owner string) (string, bool) {
	s.t.Helper()
	if s.Effects == nil {
		return "", false
	}
	return strings.Join(s.Effects(s.t, owner), "\n"), true
}

func (s *suite) noneAlive() {
	s.t.Helper()
	if s.Alive == nil {
		return
	}
	if left := s.Alive(s.t); len(left) > 0 {
		s.t.Errorf("still running after Run has returned:\n%s", strings.Join(left, "\n"))
	}
}
