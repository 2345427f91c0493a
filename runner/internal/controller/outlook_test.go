package controller

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/chartbook-operator/chartbook/runner/internal/budget"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/journal"
)

// expectation is what matters of a record of a run to come.
type expectation struct {
	Name     string
	State    journal.State
	Trigger  engine.Trigger
	Due      time.Time
	WaitsFor journal.Obstacle
}

func (s *stage) expectations() map[string]expectation {
	found := map[string]expectation{}
	for _, r := range s.outlook() {
		found[r.Name] = expectation{r.Name, r.State, r.Trigger, r.Due, r.WaitsFor}
	}
	return found
}

func TestOutlookOfWhatWaitsAndWhatIsPlanned(t *testing.T) {
	s := newStage(t, succeed, ofGeneration(1), ofGeneration(1))
	now := s.clock.Now()
	for name, act := range map[string]func(key types.NamespacedName){
		"changed": func(key types.NamespacedName) {
			s.notes.add(key, engine.TriggerSpec)
			s.waits.add(key, now.Add(-time.Minute))
			s.notes.plan(key, engine.TriggerPeriod, now.Add(time.Hour)) // the run that comes first plans anew
		},
		"running": func(key types.NamespacedName) {
			s.active.add(key, nil)
			s.notes.add(key, engine.TriggerDependent)
		},
		"alone": func(key types.NamespacedName) {
			s.active.add(key, nil)
			s.notes.plan(key, engine.TriggerPeriod, now.Add(time.Hour))
		},
		"later": func(key types.NamespacedName) {
			s.notes.plan(key, engine.TriggerPeriod, now.Add(time.Hour))
			s.notes.schedule(key, tick{"nightly", now.Add(2 * time.Hour)})
		},
		"nightly": func(key types.NamespacedName) {
			s.notes.plan(key, engine.TriggerPeriod, now.Add(time.Hour))
			s.notes.schedule(key, tick{"nightly", now.Add(time.Minute)})
		},
		"due": func(key types.NamespacedName) {
			s.notes.plan(key, engine.TriggerRetry, now)
			s.waits.add(key, now)
		},
	} {
		act(types.NamespacedName{Namespace: "ns", Name: name})
	}
	want := map[string]expectation{
		"changed": {"changed", journal.Queued, engine.TriggerSpec, now.Add(-time.Minute), journal.ForWorker},
		"running": {"running", journal.Queued, engine.TriggerDependent, time.Time{}, journal.ForRun},
		"later":   {"later", journal.Planned, engine.TriggerPeriod, now.Add(time.Hour), ""},
		"nightly": {"nightly", journal.Planned, engine.TriggerSchedule, now.Add(time.Minute), ""},
		"due":     {"due", journal.Queued, engine.TriggerRetry, now, journal.ForWorker},
	}
	if diff := cmp.Diff(want, s.expectations()); diff != "" {
		t.Errorf("the outlook differs (-want +got):\n%s", diff)
	}
}

func TestOutlookOfARunThatWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, succeed, ofGeneration(1), ofGeneration(1))
		release, _, err := s.Budget.Acquire(t.Context(), budget.Request{Watch: "another"})
		if err != nil {
			t.Fatal(err)
		}
		since := s.clock.Now()
		s.notes.add(thing, engine.TriggerPeriod)
		s.waits.add(thing, since)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = s.Reconcile(context.Background(), reconcile.Request{NamespacedName: thing})
		}()
		synctest.Wait()
		s.notes.add(thing, engine.TriggerSpec) // the same run will answer it
		want := map[string]expectation{
			thing.Name: {thing.Name, journal.Queued, engine.TriggerPeriod, since, journal.ForSlot},
		}
		if diff := cmp.Diff(want, s.expectations()); diff != "" {
			t.Errorf("while it waits (-want +got):\n%s", diff)
		}
		release()
		<-ended
		want[thing.Name] = expectation{thing.Name, journal.Planned, engine.TriggerPeriod, since.Add(time.Hour), ""}
		if diff := cmp.Diff(want, s.expectations()); diff != "" {
			t.Errorf("after the run (-want +got):\n%s", diff)
		}
	})
}
