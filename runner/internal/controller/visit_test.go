package controller

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/chartbook-operator/chartbook/runner/internal/budget"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/once"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// engineFunc is an engine in one function.
type engineFunc func(ctx context.Context, job engine.Job) engine.Result

func (f engineFunc) Run(ctx context.Context, job engine.Job) (engine.Result, error) {
	return f(ctx, job), nil
}

func (engineFunc) Ready(context.Context) error { return nil }

func succeed(context.Context, engine.Job) engine.Result {
	return engine.Result{Outcome: engine.Succeeded}
}

type noEvents struct{}

func (noEvents) Event(runtime.Object, observe.Event) {}

var thing = types.NamespacedName{Namespace: "ns", Name: "thing"}

// stage is a reconciler over two states of the API server: what the cache shows, and what is stored.
type stage struct {
	*reconciler
	clock  *clocktesting.FakeClock
	stored client.Client
}

func newStage(t *testing.T, run engineFunc, cached, stored *unstructured.Unstructured) *stage {
	t.Helper()
	measures, err := observe.NewMetrics(prometheus.NewRegistry(), observe.Build{})
	if err != nil {
		t.Fatal(err)
	}
	gvk := stored.GroupVersionKind()
	client := fake.NewClientBuilder().WithStatusSubresource(stored).WithObjects(stored).Build()
	clock := clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))
	s := &stage{clock: clock, stored: client, reconciler: &reconciler{
		Config: Config{
			Watch:  watches.Watch{GVK: gvk, ManageStatus: true},
			Engine: run,
			Inputs: func(obj map[string]any, _ input.Run) (map[string]any, error) {
				return map[string]any{"spec": obj["spec"]}, nil
			},
			Tool: status.AnsibleOperator, RunLog: logr.Discard(), Events: noEvents{}, Metrics: measures,
			Log: logr.Discard(), Clock: clock, NewID: func() string { return "run" }, Random: func() float64 { return 0 },
			Related: noRelated{}, Budget: budget.New(1, clock), Defaults: Defaults{Period: time.Hour},
		},
		Client: client, Live: client, selector: labels.Everything(),
		notes: newNotes(), waits: newWaits(), lobby: newLobby(), denials: &denialLog{}, told: &once.Texts{}, active: newActiveRuns(), episodes: map[types.NamespacedName]*episode{},
		status: &status.Writer{Store: status.ClientStore{Client: client, Live: client}},
		reader: newReader(gvk, fake.NewClientBuilder().WithObjects(cached).Build()),
	}}
	s.waker = &waker{notes: s.notes, waits: s.waits, now: clock.Now}
	return s
}

func (s *stage) reconcile(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := s.Reconcile(t.Context(), reconcile.Request{NamespacedName: thing})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func ofGeneration(generation int64, edits ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	return resource(append(edits, func(obj *unstructured.Unstructured) {
		obj.SetNamespace(thing.Namespace)
		obj.SetName(thing.Name)
		obj.SetUID("uid")
		obj.SetGeneration(generation)
		obj.Object["spec"] = map[string]any{"size": generation}
	})...)
}

// The spec changes after the resource was read from the cache and before the run begins. Writing that the run begins brings the
// new state with it; what the run then did was still for the old one.
// Covers UP F3.
func TestStatusSpeaksOfTheGenerationThatWasRun(t *testing.T) {
	var ran any
	s := newStage(t, func(_ context.Context, job engine.Job) engine.Result {
		ran = job.Inputs["spec"].(map[string]any)["size"]
		return engine.Result{Outcome: engine.Succeeded}
	}, ofGeneration(1), ofGeneration(2))
	s.notes.add(thing, engine.TriggerSpec)
	s.reconcile(t)
	if ran != int64(1) {
		t.Fatalf("the run was for %v", ran)
	}
	obj := ofGeneration(0)
	if err := s.stored.Get(t.Context(), thing, obj); err != nil {
		t.Fatal(err)
	}
	if observed := status.Read(status.Of(obj)).ObservedGeneration; observed != 1 {
		t.Errorf("status says that generation %d was run; it was 1", observed)
	}
}

// A visit that finds nothing to do uses up the timer of the queue and must not lose the period with it.
// Covers UP E9.
func TestVisitWithoutCauseKeepsThePeriod(t *testing.T) {
	runs := 0
	s := newStage(t, func(ctx context.Context, job engine.Job) engine.Result { runs++; return succeed(ctx, job) },
		ofGeneration(1), ofGeneration(1))
	s.notes.add(thing, engine.TriggerSpec)
	if after := s.reconcile(t).RequeueAfter; after != time.Hour {
		t.Fatalf("the next run is in %s", after)
	}
	s.clock.Step(20 * time.Minute)
	if after := s.reconcile(t).RequeueAfter; after != 40*time.Minute || runs != 1 {
		t.Errorf("after a visit without a cause: %d runs, the next in %s; want 1 and the rest of the hour", runs, after)
	}
	s.clock.Step(40 * time.Minute)
	if s.reconcile(t); runs != 2 {
		t.Errorf("%d runs when the hour is over, want 2", runs)
	}
}

// Changes that come while a run waits for its turn are answered by that run, and by no other.
func TestRunThatWaitedAnswersWhatCameMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		s := newStage(t, func(ctx context.Context, job engine.Job) engine.Result { runs++; return succeed(ctx, job) },
			ofGeneration(1), ofGeneration(1))
		release, _, err := s.Budget.Acquire(t.Context(), budget.Request{Watch: s.Watch.GVK.String()})
		if err != nil {
			t.Fatal(err)
		}
		s.notes.add(thing, engine.TriggerPeriod)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = s.Reconcile(t.Context(), reconcile.Request{NamespacedName: thing})
		}()
		synctest.Wait() // the visit has begun and waits
		s.notes.add(thing, engine.TriggerSpec)
		release()
		<-ended
		if after := s.reconcile(t).RequeueAfter; runs != 1 || after != time.Hour {
			t.Errorf("%d runs for one change, the next in %s; want 1, in an hour", runs, after)
		}
	})
}

func TestErrorBringsTheCauseBack(t *testing.T) {
	s := newStage(t, succeed, ofGeneration(1), ofGeneration(1))
	s.notes.add(thing, engine.TriggerDeletion)
	s.Inputs = func(map[string]any, input.Run) (map[string]any, error) { return nil, context.DeadlineExceeded }
	if _, err := s.Reconcile(t.Context(), reconcile.Request{NamespacedName: thing}); err == nil {
		t.Fatal("no error")
	}
	if got := s.notes.take(thing, s.clock.Now()).trigger; got != engine.TriggerDeletion {
		t.Errorf("the cause is %q after an error, want the one that failed", got)
	}
}

func TestFoundResourcesComeInOrder(t *testing.T) {
	withStatus := func(text map[string]any) func(*unstructured.Unstructured) {
		return func(obj *unstructured.Unstructured) { obj.Object["status"] = text }
	}
	inProgress := map[string]any{"observedGeneration": int64(1), "conditions": []any{
		map[string]any{"type": "Reconciling", "status": "True", "reason": "InProgress"},
	}}
	tests := map[string]struct {
		reason  string
		obj     *unstructured.Unstructured
		initial bool
		want    engine.Trigger
	}{
		"New":         {"a new resource is a new spec", resource(), false, engine.TriggerSpec},
		"Initial":     {"what is as it was left comes last", resource(withStatus(map[string]any{"observedGeneration": int64(1)})), true, engine.TriggerInitial},
		"Unknown":     {"an old tool's status says nothing of generations", resource(), true, engine.TriggerInitial},
		"Interrupted": {"a run that was cut short is resumed before the others are looked after", resource(withStatus(inProgress)), true, engine.TriggerRetry},
		"Changed":     {"the spec changed while no operator was there", resource(withStatus(map[string]any{"observedGeneration": int64(7)})), true, engine.TriggerSpec},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := triggerOfFound(tt.obj, tt.initial); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
			}
		})
	}
}
