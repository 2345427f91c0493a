package enginetest

import "github.com/chartbook-operator/chartbook/runner/internal/engine"

func checkFinalize(s *suite) {
	e := s.Engine(s.t, Finalize)
	s.want(e, s.job(Finalize, "one"), engine.Changed)
	if made, known := s.effects("one"); known && made == "" {
		s.t.Errorf("the run says Changed, yet nothing was made")
	}
	s.finalize(e)
	if left, _ := s.effects("one"); left != "" {
		s.t.Errorf("left behind after a good finalizer run:\n%s", left)
	}
	s.finalize(e) // the operator was killed before it could take its finalizer off
	s.noneAlive()
}

// checkFinalizeNothing: a resource may be deleted before its first run.
func checkFinalizeNothing(s *suite) {
	s.finalize(s.Engine(s.t, Finalize))
}

func (s *suite) finalize(e engine.Engine) {
	s.t.Helper()
	job := s.job(Finalize, "one")
	job.Mode = engine.Finalize
	job.Trigger = engine.TriggerDeletion
	s.want(e, job, engine.Succeeded, engine.Changed)
}
