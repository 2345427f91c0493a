package status

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

const (
	customResource = `{"apiVersion":"demo.example.com/v1","kind":"Sample","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","generation":1},"spec":{"size":1}}`
	builtIn        = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"}}`
)

func compute(in Input) func(map[string]any) map[string]any {
	return func(prev map[string]any) map[string]any {
		next, _ := Compute(prev, in)
		return next
	}
}

func doneStep() Input {
	in := done(playOK)
	in.Tool, in.Now = AnsibleOperator, at(1)
	return in
}

func newStore(t *testing.T, object string) (*Writer, *fakeStore) {
	t.Helper()
	store := &fakeStore{t: t, obj: sample(t, object)}
	return &Writer{Store: store}, store
}

func write(t *testing.T, w *Writer, obj *unstructured.Unstructured, in Input) Written {
	t.Helper()
	before := text(t, obj.Object)
	written, err := w.Write(t.Context(), obj, compute(in))
	if err != nil {
		t.Fatal(err)
	}
	if after := text(t, obj.Object); after != before {
		t.Errorf("Write changed its argument:\n%s", cmp.Diff(before, after))
	}
	return written
}

func TestWriteSendsTheDifferenceOnly(t *testing.T) {
	w, store := newStore(t, customResource)
	store.obj.Object["status"] = map[string]any{"url": "http://x", "outputs": map[string]any{"size": int64(3), "stale": "x"}}
	in := Input{Phase: Done, Generation: 1, RunID: "r", Now: at(1),
		Result: engine.Result{Outcome: engine.Succeeded, Outputs: map[string]any{"size": 3, "new": true}}}
	written := write(t, w, store.obj, in)
	want := []string{`{"metadata":{"resourceVersion":"7"},"status":{` +
		`"conditions":[{"lastTransitionTime":"2026-03-01T12:01:00Z","message":"The last run succeeded","observedGeneration":1,"reason":"Succeeded","status":"True","type":"Ready"}],` +
		`"observedGeneration":1,"outputs":{"new":true,"stale":null},"run":{"id":"r","outcome":"Succeeded","trigger":""}}}`}
	if diff := cmp.Diff(want, store.patches); diff != "" {
		t.Errorf("patches (-want +got):\n%s", diff)
	}
	if !written.Changed || written.Object.GetResourceVersion() != "8" {
		t.Errorf("written is %+v, want the new version", written)
	}
	if again := write(t, w, written.Object, in); again.Changed || len(store.patches) != 1 {
		t.Errorf("the same status was sent twice: %v", store.patches)
	}
}

func TestWriteSurvivesOtherWriters(t *testing.T) {
	w, store := newStore(t, customResource)
	stale := store.obj
	store.touch(func(obj *unstructured.Unstructured) {
		obj.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "DatabaseUp", "status": "True", "lastHeartbeatTime": "now"}}}
	})
	store.before = func(n int) {
		if n <= 5 { // labels that change ten times a second
			store.touch(func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"n": string(rune('0' + n))}) })
		}
	}
	written := write(t, w, stale, doneStep())
	if !written.Changed || written.Contended {
		t.Fatalf("not written: %+v", written)
	}
	list := statusOf(store.obj)["conditions"].([]any)
	if diff := cmp.Diff(map[string]any{"type": "DatabaseUp", "status": "True", "lastHeartbeatTime": "now"}, list[0]); diff != "" {
		t.Errorf("the other writer's condition (-want +got):\n%s", diff)
	}
	if len(list) != 5 {
		t.Errorf("%d conditions, want that one and four of ours", len(list))
	}
}

func TestWriteGivesUpQuietly(t *testing.T) {
	w, store := newStore(t, customResource)
	store.before = func(int) { store.touch(func(*unstructured.Unstructured) {}) }
	written := write(t, w, store.obj, doneStep())
	if written.Changed || !written.Contended {
		t.Errorf("written is %+v, want Contended", written)
	}
	if len(store.patches) != maxAttempts {
		t.Errorf("%d patches, want %d", len(store.patches), maxAttempts)
	}
}

func TestWriteToWhatIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		gone   func(*fakeStore)
	}{
		"Deleted":   {"the finalizer was just removed", func(s *fakeStore) { s.obj = nil }},
		"Recreated": {"another object of that name must not inherit the status", func(s *fakeStore) { s.touch(func(o *unstructured.Unstructured) { o.SetUID("other") }) }},
	} {
		t.Run(name, func(t *testing.T) {
			w, store := newStore(t, customResource)
			stale := store.obj
			c.gone(store)
			if written := write(t, w, stale, doneStep()); !written.Gone || written.Changed {
				t.Errorf("%s: written is %+v, want Gone", c.reason, written)
			}
		})
	}
}

func TestWriteWithoutSubresource(t *testing.T) {
	w, store := newStore(t, customResource)
	store.bare = true
	written, err := w.Write(t.Context(), store.obj, compute(doneStep()))
	if !errors.Is(err, ErrNoStatusSubresource) {
		t.Errorf("error is %v, want %v", err, ErrNoStatusSubresource)
	}
	if !written.Changed {
		t.Fatalf("not written: %+v", written)
	}
	if got := Read(Of(store.obj)); !got.Ready || got.ObservedGeneration != 1 {
		t.Errorf("the record is %+v, want Ready of generation 1", got)
	}
	if again := write(t, w, written.Object, doneStep()); again.Changed {
		t.Errorf("the same record was written twice: %v", store.patches)
	}
	w.Forget(store.obj.GroupVersionKind())
	store.bare = false
	if written := write(t, w, written.Object, doneStep()); statusOf(written.Object) == nil {
		t.Errorf("the CRD has a status subresource now, yet it is not used: %v", store.patches)
	}
}

// TestWriteWithoutSubresourceConcurrently: the notice comes once, however many find out.
func TestWriteWithoutSubresourceConcurrently(t *testing.T) {
	var w Writer
	gvk := schema.GroupVersionKind{Group: "demo.example.com", Version: "v1", Kind: "Sample"}
	var notices sync.Map
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := w.markBare(gvk); err != nil {
				notices.Store(i, err)
			}
		})
	}
	wg.Wait()
	n := 0
	notices.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d notices, want 1", n)
	}
}

func TestWriteBuiltIn(t *testing.T) {
	w, store := newStore(t, builtIn)
	in := with(doneStep(), generation(0))
	in.Tool = ""
	in.Result.Outputs = map[string]any{"big": strings.Repeat("x", 20<<10)}
	written := write(t, w, store.obj, in)
	record := store.obj.GetAnnotations()[Annotation]
	want := `{"conditions":[{"lastTransitionTime":"2026-03-01T12:01:00Z","message":"The last run succeeded","reason":"Succeeded","status":"True","type":"Ready"}],` +
		`"run":{"finished":"2026-03-01T12:01:00Z","id":"run-1","outcome":"Changed","started":"2026-03-01T12:00:00Z","trigger":"spec"}}`
	if diff := cmp.Diff(want, record); diff != "" {
		t.Errorf("annotation, without outputs that are too large (-want +got):\n%s", diff)
	}
	if statusOf(store.obj) != nil {
		t.Errorf("the status of a built-in kind was written: %v", store.obj.Object["status"])
	}
	again := with(in, func(in *Input) { in.RunID, in.Now = "run-2", at(9) })
	if written := write(t, w, written.Object, again); written.Changed {
		t.Errorf("an idle run was written: %s", store.patches[1])
	}
}

func TestWriteNoticesPruning(t *testing.T) {
	w, store := newStore(t, customResource)
	store.drops, store.dropsIn = []string{"run", "outputs"}, []string{"ansibleResult", "observedGeneration"}
	written := write(t, w, store.obj, doneStep())
	want := []string{"conditions[].ansibleResult", "conditions[].observedGeneration", "outputs", "run"}
	if diff := cmp.Diff(want, written.Pruned); diff != "" {
		t.Errorf("pruned (-want +got):\n%s", diff)
	}
	again := write(t, w, written.Object, with(doneStep(), func(in *Input) { in.Now = at(9) }))
	if again.Changed || again.Pruned != nil {
		t.Errorf("what is dropped was sent or told again: %+v %v", again, store.patches)
	}
}

func TestWriteErrors(t *testing.T) {
	w, store := newStore(t, customResource)
	broken := &failingStore{fakeStore: store, err: apierrors.NewForbidden(resource, "a", errors.New("no"))}
	w.Store = broken
	_, err := w.Write(t.Context(), store.obj, compute(doneStep()))
	if !apierrors.IsForbidden(err) {
		t.Errorf("error is %v, want the API server's", err)
	}
	if want := "write the status of Sample n/a: "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error is %q, want it to begin with %q", err, want)
	}
}

func TestBuiltIn(t *testing.T) {
	for group, want := range map[string]bool{
		"": true, "apps": true, "batch": true, "networking.k8s.io": true, "rbac.authorization.k8s.io": true,
		"demo.example.com": false, "k8s.io.example.com": false, "monitoring.coreos.com": false,
	} {
		if got := BuiltIn(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "X"}); got != want {
			t.Errorf("group %q: built-in is %v, want %v", group, got, want)
		}
	}
}

func TestOfIgnoresRubbish(t *testing.T) {
	obj := sample(t, builtIn)
	obj.SetAnnotations(map[string]string{Annotation: "no JSON"})
	if got := Of(obj); got != nil {
		t.Errorf("record is %v, want none", got)
	}
}
