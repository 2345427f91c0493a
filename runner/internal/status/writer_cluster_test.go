package status_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// world is a real API server with one resource.
type world struct {
	t      *testing.T
	client client.Client
	writer *status.Writer
	obj    *unstructured.Unstructured
}

func newWorld(t *testing.T, gvk schema.GroupVersionKind, options ...testkit.CRDOption) *world {
	t.Helper()
	admin := testkit.Cluster(t)
	c := testkit.Client(t, admin)
	if !status.BuiltIn(gvk) {
		testkit.InstallCRD(t, admin, gvk, options...)
	}
	obj := testkit.Object(gvk, testkit.Namespace(t, c), "a", nil)
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	return &world{t: t, client: c, writer: &status.Writer{Store: status.ClientStore{Client: c, Live: c}}, obj: obj}
}

// done writes the status of a good run, starting from obj.
func (w *world) done(obj *unstructured.Unstructured) (status.Written, error) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return w.writer.Write(w.t.Context(), obj, func(prev map[string]any) map[string]any {
		next, _ := status.Compute(prev, status.Input{
			Phase: status.Done, Tool: status.AnsibleOperator, Generation: obj.GetGeneration(), RunID: "r", Now: now,
			Result: engine.Result{Outcome: engine.Changed, Stats: &engine.Stats{OK: 1, Completed: now},
				Outputs: map[string]any{"size": 3, "half": 0.5, "whole": 2.0, "list": []any{nil, "x"}, "deep": map[string]any{"none": nil}}},
		})
		return next
	})
}

// live reads the resource anew.
func (w *world) live() *unstructured.Unstructured {
	w.t.Helper()
	fresh := w.obj.DeepCopy()
	if err := w.client.Get(w.t.Context(), client.ObjectKeyFromObject(w.obj), fresh); err != nil {
		w.t.Fatal(err)
	}
	return fresh
}

// wantQuiet fails unless a second write of the same finds nothing to send.
func (w *world) wantQuiet(written status.Written) {
	w.t.Helper()
	again, err := w.done(written.Object)
	if err != nil || again.Changed {
		w.t.Errorf("the second write gives %v and changed is %v, want nothing", err, again.Changed)
	}
	if live := w.live().GetResourceVersion(); live != written.Object.GetResourceVersion() {
		w.t.Errorf("the resource is at version %s, want %s", live, written.Object.GetResourceVersion())
	}
}

func kind(name string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "status.example.com", Version: "v1", Kind: name}
}

func TestRealWrite(t *testing.T) {
	w := newWorld(t, kind("Plain"))
	written, err := w.done(w.obj)
	if err != nil || !written.Changed {
		t.Fatalf("written is %+v, error %v", written, err)
	}
	if len(written.Pruned) > 0 {
		t.Errorf("fields are said to be dropped: %v", written.Pruned)
	}
	if err := testkit.HasCondition(w.live(), "Ready", "True"); err != nil {
		t.Error(err)
	}
	w.wantQuiet(written)
}

// TestRealConflicts has someone else write to the resource all the time.
// Covers AO 10.3 no. 10, UP F5.
func TestRealConflicts(t *testing.T) {
	w := newWorld(t, kind("Busy"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			patch := fmt.Appendf(nil, `{"metadata":{"labels":{"n":"%d"}},"status":{"other":%d}}`, i, i)
			obj := w.obj.DeepCopy()
			_ = w.client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch))
			_ = w.client.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch))
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	stale := w.obj
	for range 5 {
		written, err := w.writer.Write(t.Context(), stale, func(prev map[string]any) map[string]any {
			next, _ := status.Compute(prev, status.Input{Phase: status.Running, RunID: "r", Generation: 1, Now: time.Unix(0, 0)})
			return next
		})
		if err != nil || written.Contended {
			t.Errorf("written is %+v, error %v", written, err)
		}
	}
	cancel()
	<-ended
	if other, found, _ := unstructured.NestedInt64(w.live().Object, "status", "other"); !found || other < 0 {
		t.Errorf("the other writer's field is lost: %v", w.live().Object["status"])
	}
	if err := testkit.HasCondition(w.live(), "Reconciling", "True"); err != nil {
		t.Error(err)
	}
}

func TestRealWithoutSubresource(t *testing.T) {
	w := newWorld(t, kind("Bare"), testkit.WithoutStatus)
	written, err := w.done(w.obj)
	if !errors.Is(err, status.ErrNoStatusSubresource) || !written.Changed {
		t.Fatalf("written is %+v, error %v, want %v", written, err, status.ErrNoStatusSubresource)
	}
	if record := status.Read(status.Of(w.live())); !record.Ready {
		t.Errorf("the record is %+v, want Ready", record)
	}
	w.wantQuiet(written)
}

func TestRealBuiltIn(t *testing.T) {
	w := newWorld(t, schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
	written, err := w.done(w.obj)
	if err != nil || !written.Changed {
		t.Fatalf("written is %+v, error %v", written, err)
	}
	if record := status.Read(status.Of(w.live())); !record.Ready {
		t.Errorf("the record is %+v, want Ready", record)
	}
	w.wantQuiet(written)
}

// TestRealPruning has a CRD whose schema knows of old conditions only.
func TestRealPruning(t *testing.T) {
	w := newWorld(t, kind("Strict"), func(crd *apiextensionsv1.CustomResourceDefinition) {
		text := apiextensionsv1.JSONSchemaProps{Type: "string"}
		object := func(properties map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
			return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}
		}
		entry := object(map[string]apiextensionsv1.JSONSchemaProps{"type": text, "status": text, "reason": text, "message": text, "lastTransitionTime": text})
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"] = object(map[string]apiextensionsv1.JSONSchemaProps{
			"conditions": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &entry}},
			"outputs":    object(map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer"}}),
		})
	})
	written, err := w.done(w.obj)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"conditions[].ansibleResult", "conditions[].observedGeneration", "observedGeneration",
		"outputs.deep", "outputs.half", "outputs.list", "outputs.whole", "run"}
	if diff := cmp.Diff(want, written.Pruned); diff != "" {
		t.Errorf("dropped fields (-want +got):\n%s", diff)
	}
	w.wantQuiet(written)
}

func TestRealGone(t *testing.T) {
	w := newWorld(t, kind("Gone"))
	if err := w.client.Delete(t.Context(), w.obj.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	if written, err := w.done(w.obj); err != nil || !written.Gone {
		t.Errorf("written is %+v, error %v, want Gone", written, err)
	}
	again := testkit.Object(w.obj.GroupVersionKind(), w.obj.GetNamespace(), "a", nil)
	if err := w.client.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if written, err := w.done(w.obj); err != nil || !written.Gone {
		t.Errorf("another resource of that name: written is %+v, error %v, want Gone", written, err)
	}
	if live := w.live(); live.Object["status"] != nil {
		t.Errorf("it got the status of the one before: %v", live.Object["status"])
	}
}
