package enginetest

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func checkFail(s *suite) {
	result := s.want(s.Engine(s.t, Fail), s.job(Fail, "one"), engine.Transient, engine.Permanent)
	if result.Message == "" {
		s.t.Errorf("a failed run has no message")
	}
	if len(result.Failures) == 0 && result.Reason == "" {
		s.t.Errorf("a failed run has neither a failure nor a reason")
	}
	for _, f := range result.Failures {
		if f.Name == "" && f.Message == "" {
			s.t.Errorf("failure %+v says nothing", f)
		}
	}
	s.noneAlive()
}

// checkRecover: a failed run does not stand in the way of a later one whose content is good.
func checkRecover(s *suite) {
	s.want(s.Engine(s.t, Fail), s.job(Fail, "one"), engine.Transient, engine.Permanent)
	e := s.Engine(s.t, Apply)
	s.want(e, s.job(Apply, "one"), engine.Changed, engine.Succeeded)
	s.want(e, s.job(Apply, "one"), engine.Succeeded)
}

func checkBroken(s *suite) {
	a := s.run(s.t.Context(), s.Engine(s.t, Broken), s.job(Broken, "one"))
	if a.err != nil {
		if a.err.Error() == "" {
			s.t.Errorf("the error has no text")
		}
		return
	}
	s.outcome(a, engine.Permanent)
	if a.result.Message == "" {
		s.t.Errorf("broken content gives no message")
	}
}

func checkWait(s *suite) {
	result := s.want(s.Engine(s.t, Wait), s.job(Wait, "one"), engine.Waiting)
	if result.Reason == "" {
		s.t.Errorf("a waiting run does not say what for")
	}
	if len(result.Failures) > 0 {
		s.t.Errorf("waiting is no failure, yet there are some: %+v", result.Failures)
	}
}

func checkSecrets(s *suite) {
	a := s.run(s.t.Context(), s.Engine(s.t, Leak), s.job(Leak, "one"))
	s.outcome(a, engine.Transient, engine.Permanent)
	for _, place := range leaks(a) {
		s.t.Errorf("the secret is in %s", place)
	}
}

// leaks names the places of an answer that hold Secret, as it is or in base64. A release's manifest may hold it:
// that is the engine's to return and the caller's to keep.
func leaks(a answer) []string {
	encoded := base64.StdEncoding.EncodeToString([]byte(Secret))
	var found []string
	look := func(place string, value any) {
		if text := fmt.Sprintf("%+v", value); strings.Contains(text, Secret) || strings.Contains(text, encoded) {
			found = append(found, place)
		}
	}
	look("the reason", a.result.Reason)
	look("the message", a.result.Message)
	look("the failures", a.result.Failures)
	look("the outputs", a.result.Outputs)
	look("the denials", a.result.Denials)
	look("the error", a.err)
	if a.result.Release != nil {
		look("the release's notes", a.result.Release.Notes)
	}
	for _, event := range a.events {
		look(fmt.Sprintf("a %s event", event.Kind), event)
	}
	return found
}
