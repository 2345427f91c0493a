package controller

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/chartbook-operator/chartbook/runner/internal/budget"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

func named(name string) *unstructured.Unstructured {
	obj := ofGeneration(1)
	obj.SetName(name)
	return obj
}

// Five hundred resources that did not change wait for their turn: a new one comes before them (UP A1), and before that
// one comes one of them which is deleted (UP G5). The old tool's queue knew no order but that of arrival.
func TestWhatChangedComesBeforeWhatDidNot(t *testing.T) {
	s := newStage(t, succeed, ofGeneration(1), ofGeneration(1))
	filter, err := newChangeFilter(watches.Watch{}, labels.Everything(), logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	events := s.waker.handler(filter, sightings{s.Watch.GVK, s.Metrics}, s.active)
	q := priorityqueue.New[reconcile.Request](t.Name())
	t.Cleanup(q.ShutDown)
	for i := range 500 {
		events.Create(t.Context(), event.TypedCreateEvent[*unstructured.Unstructured]{
			Object: named(fmt.Sprintf("old-%d", i)), IsInInitialList: true,
		}, q)
	}
	events.Create(t.Context(), event.TypedCreateEvent[*unstructured.Unstructured]{Object: named("new")}, q)
	deleted := named("old-499")
	deleted.SetDeletionTimestamp(&deletedAt)
	events.Update(t.Context(), event.TypedUpdateEvent[*unstructured.Unstructured]{ObjectOld: named("old-499"), ObjectNew: deleted}, q)
	for _, want := range []string{"old-499", "new"} {
		if got, _ := q.Get(); got.Name != want {
			t.Errorf("next comes %s, want %s", got.Name, want)
		}
	}
	if got, _ := q.Get(); !strings.HasPrefix(got.Name, "old-") { // when the list has settled
		t.Errorf("then comes %s, want one of the others", got.Name)
	}
	if n := len(s.notes.waiting); n != 501 {
		t.Errorf("%d have a cause, want all", n)
	}
}

// Five kinds with five resources each share three slots. The old tool bounded each kind for itself (UP A4).
func TestKindsShareOneBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var now, most, all int
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			now += n
			most, all = max(most, now), all+max(n, 0)
		}
		run := func(context.Context, engine.Job) engine.Result {
			count(1)
			time.Sleep(time.Second) // of the bubble's time
			count(-1)
			return engine.Result{Outcome: engine.Succeeded}
		}
		var shared *budget.Budget
		var group sync.WaitGroup
		for i := range 25 {
			s := newStage(t, run, ofGeneration(1), ofGeneration(1))
			if shared == nil {
				shared = budget.New(3, s.clock)
			}
			s.Budget, s.Watch.GVK.Kind = shared, fmt.Sprintf("Kind%d", i%5)
			s.notes.add(thing, engine.TriggerSpec)
			group.Go(func() { s.reconcile(t) })
		}
		group.Wait()
		if most != 3 || all != 25 {
			t.Errorf("%d runs, %d of them at one time; want 25, and 3", all, most)
		}
	})
}
