package enginetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func checkReady(s *suite) {
	if err := s.Engine(s.t, Apply).Ready(s.t.Context()); err != nil {
		s.t.Errorf("Ready returned %v, although jobs can be run", err)
	}
}

func checkApply(s *suite) {
	e := s.Engine(s.t, Apply)
	s.want(e, s.job(Apply, "one"), engine.Changed)
	made, known := s.effects("one")
	if known && made == "" {
		s.t.Errorf("the run says Changed, yet nothing was made")
	}
	s.want(e, s.job(Apply, "one"), engine.Succeeded)
	if again, _ := s.effects("one"); again != made {
		s.t.Errorf("the run says Succeeded, yet something changed from\n%s\nto\n%s", made, again)
	}
	s.noneAlive()
}

// checkLargeInputs is beyond what the operating system takes as one argument of a program (128 KiB).
func checkLargeInputs(s *suite) {
	job := s.job(Apply, "large")
	if job.Inputs == nil {
		job.Inputs = map[string]any{}
	}
	job.Inputs["conformance_payload"] = payload(500 << 10)
	s.want(s.Engine(s.t, Apply), job, engine.Changed)
}

// payload returns about size bytes of nested data with values of every type.
func payload(size int) map[string]any {
	const line = "The quick brown fox, a \"quote\", a \\ and an é. "
	items := []any{}
	for n := 0; n < size; n += 1024 {
		items = append(items, map[string]any{
			"text": strings.Repeat(line, 1024/len(line)), "number": int64(n), "half": 0.5, "yes": true, "none": nil,
		})
	}
	return map[string]any{"items": items, "big": int64(1)<<53 + 1, "empty": map[string]any{}, "list": []any{}}
}

func checkConcurrent(s *suite) {
	const owners = 4
	e := s.Engine(s.t, Apply)
	type running struct {
		owner       string
		before, job engine.Job
		answers     <-chan answer
	}
	var all []running
	for i := range owners {
		r := running{owner: fmt.Sprintf("owner-%d", i)}
		r.job = s.job(Apply, r.owner)
		r.before = cloneJob(r.job)
		all = append(all, r)
	}
	for i := range all {
		all[i].answers = s.start(s.t.Context(), e, all[i].job, s.recorders.add())
	}
	for _, r := range all {
		s.outcome(s.finish(r.answers, r.before, r.job), engine.Changed)
	}
	for _, r := range all {
		if made, known := s.effects(r.owner); known && made == "" {
			s.t.Errorf("the run for %s says Changed, yet nothing was made for it", r.owner)
		}
		s.want(e, s.job(Apply, r.owner), engine.Succeeded)
	}
	if made, _ := s.effects("owner-none"); made != "" {
		s.t.Errorf("something was made for an owner without a run:\n%s", made)
	}
}

func checkCancelledBefore(s *suite) {
	ctx, cancel := context.WithCancel(s.t.Context())
	cancel()
	a := s.run(ctx, s.Engine(s.t, Apply), s.job(Apply, "one"))
	if a.err == nil {
		s.outcome(a, engine.Cancelled)
	}
	if made, _ := s.effects("one"); made != "" {
		s.t.Errorf("a run that was cancelled before its start made something:\n%s", made)
	}
	s.noneAlive()
}

func checkWithoutProgress(s *suite) {
	job := s.job(Apply, "quiet")
	s.outcome(s.finish(s.start(s.t.Context(), s.Engine(s.t, Apply), job, nil), cloneJob(job), job), engine.Changed)
}
