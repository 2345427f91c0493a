package enginetest

import (
	"context"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func checkTimeout(s *suite) {
	job := s.job(Hang, "one")
	job.Timeout = s.Timeout
	a := s.run(s.t.Context(), s.Engine(s.t, Hang), job)
	s.outcome(a, engine.TimedOut)
	if a.result.Reason != engine.ReasonDeadlineExceeded {
		s.t.Errorf("reason is %q, want %q", a.result.Reason, engine.ReasonDeadlineExceeded)
	}
	if a.result.Message == "" {
		s.t.Errorf("a run that timed out has no message")
	}
	if a.took < s.Timeout {
		s.t.Errorf("ended after %v, before its timeout of %v", a.took, s.Timeout)
	}
	if a.took > s.Timeout+s.Soon {
		s.t.Errorf("ended after %v, want at most %v beyond its timeout of %v", a.took, s.Soon, s.Timeout)
	}
	s.noneAlive()
}

func checkCancel(s *suite) {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	s.hang(ctx, cancel)
}

// checkContextDeadline: only the job's own Timeout makes a run TimedOut; a deadline of the caller is a shutdown.
func checkContextDeadline(s *suite) {
	ctx, cancel := context.WithTimeout(s.t.Context(), s.Timeout)
	defer cancel()
	s.hang(ctx, func() { <-ctx.Done() })
}

// checkAfterCancel: nothing of a run that was cut off stands in the way of the next one.
func checkAfterCancel(s *suite) {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	s.hang(ctx, cancel)
	s.want(s.Engine(s.t, Apply), s.job(Apply, "one"), engine.Changed, engine.Succeeded)
}

// hang starts a run that does not end, ends ctx by end once the run is under way, and checks how it ends.
func (s *suite) hang(ctx context.Context, end func()) {
	s.t.Helper()
	job := s.job(Hang, "one")
	before := cloneJob(job)
	rec := s.recorders.add()
	answers := s.start(ctx, s.Engine(s.t, Hang), job, rec)
	s.waitRunning(ctx, job, rec)
	end()
	told := time.Now()
	a := s.finish(answers, before, job)
	s.outcome(a, engine.Cancelled)
	if late := time.Since(told); late > s.Soon {
		s.t.Errorf("ended %v after it was told to, want at most %v", late, s.Soon)
	}
	s.noneAlive()
}

func (s *suite) waitRunning(ctx context.Context, job engine.Job, rec *recorder) {
	s.t.Helper()
	if s.WaitRunning != nil {
		s.WaitRunning(s.t, job)
		return
	}
	limit := time.NewTimer(s.Limit)
	defer limit.Stop()
	select {
	case <-rec.first:
	case <-ctx.Done():
	case <-limit.C:
		s.t.Fatalf("no progress event within %v", s.Limit)
	}
}
