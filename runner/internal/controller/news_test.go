package controller

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/chartbook-operator/chartbook/runner/internal/budget"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/fieldpath"
	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

func changedPaths(paths ...string) news {
	var set fieldpath.Set
	for _, path := range paths {
		set.Add(path)
	}
	return news{paths: set}
}

// told is what a run heard of why it happens.
type told struct {
	Reason string
	Paths  []string
}

// newsStage is a stage that keeps what each run was told.
func newsStage(t *testing.T, run engineFunc) (*stage, *[]told) {
	t.Helper()
	s := newStage(t, run, ofGeneration(1), ofGeneration(1))
	var heard []told
	s.Inputs = func(_ map[string]any, run input.Run) (map[string]any, error) {
		heard = append(heard, told{run.Reason, run.ChangedPaths})
		return nil, nil
	}
	return s, &heard
}

func (s *stage) change(trigger engine.Trigger, happened news) {
	s.notes.news.add(thing, happened)
	s.notes.add(thing, trigger)
}

func TestRunsAreToldWhatChanged(t *testing.T) {
	var outcome engine.Outcome
	s, heard := newsStage(t, func(context.Context, engine.Job) engine.Result { return engine.Result{Outcome: outcome} })
	outcome = engine.Succeeded
	s.notes.news.add(thing, changedPaths("spec.color")) // it does not wake
	s.change(engine.TriggerSpec, changedPaths("spec.size"))
	s.reconcile(t)
	outcome = engine.Transient
	s.notes.news.add(thing, news{trigger: engine.TriggerSpec, sentence: "it was created"}) // more urgent than what follows
	s.change(engine.TriggerSpec, changedPaths("spec.image"))
	s.reconcile(t)
	outcome = engine.Succeeded
	s.change(engine.TriggerDependent, news{trigger: engine.TriggerDependent, sentence: "Job x was deleted"})
	s.reconcile(t)
	s.change(engine.TriggerRetry, news{})
	s.reconcile(t)
	want := []told{
		{"spec.color and spec.size changed", []string{"spec.color", "spec.size"}}, // all events since the run before
		{"spec.image changed", []string{"spec.image"}},                            // and not what that run was told
		{"Job x was deleted", []string{"spec.image"}},                             // a run that failed has dealt with nothing
		{"the run before failed, waits or asked for another", nil},
	}
	if diff := cmp.Diff(want, *heard); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(s.notes.news.kept) != 0 {
		t.Errorf("kept: %v", s.notes.news.kept)
	}
}

// What changes while a run is at work is told to the next one, whatever that run comes to.
func TestChangesDuringARunAreToldToTheNext(t *testing.T) {
	for _, outcome := range []engine.Outcome{engine.Succeeded, engine.Transient} {
		var s *stage
		var heard *[]told
		s, heard = newsStage(t, func(context.Context, engine.Job) engine.Result {
			s.change(engine.TriggerSpec, changedPaths("spec.during"))
			return engine.Result{Outcome: outcome}
		})
		s.change(engine.TriggerSpec, changedPaths("spec.before"))
		s.reconcile(t)
		s.reconcile(t)
		want := []string{"spec.during"}
		if outcome == engine.Transient {
			want = []string{"spec.before", "spec.during"}
		}
		if diff := cmp.Diff(want, (*heard)[1].Paths); diff != "" {
			t.Errorf("after a run with outcome %s (-want +got):\n%s", outcome, diff)
		}
	}
}

// A visit that does not run (paused here) keeps the news for the one that does.
func TestVisitsWithoutARunKeepTheNews(t *testing.T) {
	s, heard := newsStage(t, succeed)
	paused := ofGeneration(1)
	annotated(pausedAnnotation, "true")(paused)
	s.reader = newReader(paused.GroupVersionKind(), newStage(t, succeed, paused, paused).stored)
	s.change(engine.TriggerSpec, changedPaths("spec.size"))
	s.reconcile(t)
	if len(*heard) != 0 {
		t.Fatal("a paused resource is run")
	}
	s.reader = newReader(paused.GroupVersionKind(), s.stored)
	s.change(engine.TriggerRequest, news{trigger: engine.TriggerRequest, sentence: "the annotation chartbook.dev/paused changed"})
	s.reconcile(t)
	want := []told{{"the annotation chartbook.dev/paused changed", []string{"spec.size"}}}
	if diff := cmp.Diff(want, *heard); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What comes while a run waits for its turn is told to that run.
func TestNewsWhileWaitingReachTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, heard := newsStage(t, succeed)
		release, _, err := s.Budget.Acquire(t.Context(), budget.Request{Watch: s.Watch.GVK.String()})
		if err != nil {
			t.Fatal(err)
		}
		s.change(engine.TriggerSpec, changedPaths("spec.a"))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = s.Reconcile(t.Context(), reconcile.Request{NamespacedName: thing})
		}()
		synctest.Wait() // the visit has begun and waits
		s.change(engine.TriggerSpec, changedPaths("spec.b"))
		release()
		<-ended
		if diff := cmp.Diff([]told{{"spec.a and spec.b changed", []string{"spec.a", "spec.b"}}}, *heard); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestNewsOfWhatIsGoneAreForgotten(t *testing.T) {
	s, _ := newsStage(t, succeed)
	if err := s.stored.Delete(t.Context(), ofGeneration(1)); err != nil {
		t.Fatal(err)
	}
	s.reader = newReader(s.Watch.GVK, s.stored)
	s.change(engine.TriggerDeletion, changedPaths("spec.size"))
	s.reconcile(t)
	if len(s.notes.news.kept) != 0 {
		t.Errorf("kept of a resource that is gone: %v", s.notes.news.kept)
	}
}

func TestSentences(t *testing.T) {
	requested := resource(annotated("chartbook.dev/reconcile-requested-at", "now"))
	unlabelled := resource(labelled("app", "other"))
	filter := filterFor(t, watches.Trigger{}, logr.Discard())
	for want, got := range map[string]string{
		"the annotation chartbook.dev/reconcile-requested-at changed": filter.news(resource(), requested, engine.TriggerRequest).reason(engine.TriggerRequest),
		"the labels cease to match the selector":                      filter.news(resource(), unlabelled, engine.TriggerMetadata).reason(engine.TriggerMetadata),
		"the labels begin to match the selector":                      filter.news(unlabelled, resource(), engine.TriggerMetadata).reason(engine.TriggerMetadata),
		"the resource was created":                                    foundNews(engine.TriggerSpec, false).reason(engine.TriggerSpec),
		"the spec changed while the operator was away":                foundNews(engine.TriggerSpec, true).reason(engine.TriggerSpec),
		"the run before was interrupted":                              foundNews(engine.TriggerRetry, true).reason(engine.TriggerRetry),
		"the operator has started":                                    foundNews(engine.TriggerInitial, true).reason(engine.TriggerInitial),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
