package controller

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

var deletedAt = metav1.Unix(1_600_000_000, 0)

// outcome is an engine whose runs all come to the same.
func outcome(o engine.Outcome) engineFunc {
	return func(context.Context, engine.Job) engine.Result { return engine.Result{Outcome: o, Reason: "Because"} }
}

// The old tool wrote its failures to resources of which it was not to manage the status (AO 10.1 no. 8).
func TestNothingIsWrittenWithoutManagedStatus(t *testing.T) {
	annotate := func(key, value string) func(*stage, *unstructured.Unstructured) {
		return func(_ *stage, obj *unstructured.Unstructured) { annotated(key, value)(obj) }
	}
	tests := map[string]struct {
		why     string
		run     engineFunc
		prepare func(*stage, *unstructured.Unstructured)
	}{
		"Good":     {"the usual case", succeed, nil},
		"Failed":   {"a run that failed", outcome(engine.Transient), nil},
		"Waiting":  {"a run that waits", outcome(engine.Waiting), nil},
		"NotRun":   {"a run that could not begin, which is where the old tool forgot to ask", nil, nil},
		"Refused":  {"a resource that is not run", succeed, annotate("ansible.sdk.operatorframework.io/reconcile-period", "soon")},
		"Paused":   {"a resource that is not to be run", succeed, annotate(pausedAnnotation, "true")},
		"Selected": {"an annotation that asks for a run", succeed, annotate(requestAnnotation, "now")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			obj := ofGeneration(1)
			if tt.prepare != nil {
				tt.prepare(nil, obj)
			}
			s := newStage(t, tt.run, obj.DeepCopy(), obj.DeepCopy())
			if tt.run == nil {
				s.Engine = broken{}
			}
			s.Watch.ManageStatus = false
			s.notes.add(thing, engine.TriggerSpec)
			s.reconcile(t)
			stored := ofKind(obj.GroupVersionKind())
			if err := s.stored.Get(t.Context(), thing, stored); err != nil {
				t.Fatal(err)
			}
			if stored.GetResourceVersion() != "999" || stored.Object["status"] != nil {
				t.Errorf("%s: the resource was written: %v", tt.why, stored.Object)
			}
		})
	}
}

// The resource is deleted between the look at it and the write that its run begins. The old tool then ran the finalizer,
// left it on the resource and ran it again (AO 10.1 no. 15). A stale cache must not repeat it either.
func TestFinalizerRunsOnce(t *testing.T) {
	const ours, others = "example.com/ours", "example.com/others"
	for _, left := range [][]string{{others}, nil} { // with none left, the resource is gone and the cache does not know it yet
		alive := ofGeneration(1)
		alive.SetFinalizers(append([]string{ours}, left...))
		deleted := alive.DeepCopy()
		deleted.SetDeletionTimestamp(&deletedAt)
		var modes []engine.Mode
		s := newStage(t, func(_ context.Context, job engine.Job) engine.Result {
			modes = append(modes, job.Mode)
			return engine.Result{Outcome: engine.Succeeded}
		}, alive, deleted)
		s.Finalizers = []string{ours}
		for _, trigger := range []engine.Trigger{engine.TriggerSpec, engine.TriggerDeletion, engine.TriggerDeletion, engine.TriggerPeriod} {
			s.notes.add(thing, trigger)
			s.reconcile(t)
		}
		if want := []engine.Mode{engine.Reconcile, engine.Finalize}; !slices.Equal(modes, want) {
			t.Errorf("with finalizers %q of others runs are %q, want %q", left, modes, want)
		}
		stored := ofKind(alive.GroupVersionKind())
		if err := s.stored.Get(t.Context(), thing, stored); client.IgnoreNotFound(err) != nil || (err == nil) != (left != nil) {
			t.Fatal(err)
		}
		if got := stored.GetFinalizers(); !slices.Equal(got, left) {
			t.Errorf("finalizers are %q, want those of others: %q", got, left)
		}
	}
}

// After failures a resource that was put right waited for the rest of a long back-off (UP E5).
func TestNewSpecEndsTheBackoff(t *testing.T) {
	var attempts []int
	s := newStage(t, func(_ context.Context, job engine.Job) engine.Result {
		attempts = append(attempts, job.Attempt)
		return engine.Result{Outcome: engine.Transient, Reason: "TaskFailed"}
	}, ofGeneration(1), ofGeneration(1))
	s.Watch.Retry = watches.Retry{Backoff: time.Second, MaxBackoff: time.Hour}
	s.notes.add(thing, engine.TriggerSpec)
	var first, last time.Duration
	for i := range 5 {
		last = s.reconcile(t).RequeueAfter
		if i == 0 {
			first = last
		}
		if i < 4 {
			s.clock.Step(last)
		}
	}
	if last < 8*first {
		t.Errorf("the pauses grow from %s to %s only", first, last)
	}
	fixed := ofKind(s.Watch.GVK)
	if err := s.stored.Get(t.Context(), thing, fixed); err != nil {
		t.Fatal(err)
	}
	fixed.SetGeneration(2)
	fixed.Object["spec"] = map[string]any{"size": int64(2)}
	if err := s.stored.Update(t.Context(), fixed); err != nil {
		t.Fatal(err)
	}
	s.reader = newReader(s.Watch.GVK, s.stored)
	s.notes.add(thing, engine.TriggerSpec)
	if after := s.reconcile(t).RequeueAfter; after != first || !slices.Equal(attempts, []int{1, 2, 3, 4, 5, 1}) {
		t.Errorf("attempts are %v, the next in %s; want a new count that begins at once, and then %s", attempts, after, first)
	}
}

// With managed status, the old tool read the resource four times from the API server for each run and wrote it twice, and
// wrote it as often where a period found nothing to do (AO 10.3).
func TestWhatARunCostsTheAPIServer(t *testing.T) {
	s := newStage(t, succeed, ofGeneration(1), ofGeneration(1))
	reads, writes := 0, 0
	counted := interceptor.NewClient(s.stored.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
			reads++
			return c.Get(ctx, key, obj, o...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, o ...client.SubResourcePatchOption) error {
			writes++
			return c.SubResource(name).Patch(ctx, obj, patch, o...)
		},
	})
	s.Client, s.Live = counted, counted
	s.status = &status.Writer{Store: status.ClientStore{Client: counted, Live: counted}}
	s.notes.add(thing, engine.TriggerSpec)
	after := s.reconcile(t).RequeueAfter
	if reads != 0 || writes != 2 {
		t.Errorf("a run costs %d reads and %d writes, want 0 and 2", reads, writes)
	}
	s.clock.Step(after)
	if s.reconcile(t); reads != 0 || writes != 2 {
		t.Errorf("a periodic run that changes nothing costs %d reads and %d writes, want none", reads, writes-2)
	}
}
