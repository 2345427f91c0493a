package controller

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

func filterFor(t testing.TB, trigger watches.Trigger, log logr.Logger) changeFilter {
	t.Helper()
	filter, err := newChangeFilter(watches.Watch{Trigger: trigger}, labels.SelectorFromSet(labels.Set{"app": "web"}), log)
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

// spec returns an edit that gives a resource a spec of its own, of generation 2.
func spec(fields map[string]any) func(*unstructured.Unstructured) {
	return func(obj *unstructured.Unstructured) {
		obj.SetGeneration(2)
		obj.Object["spec"] = fields
	}
}

func labelled(key, value string) func(*unstructured.Unstructured) {
	return func(obj *unstructured.Unstructured) {
		all := obj.GetLabels()
		all[key] = value
		obj.SetLabels(all)
	}
}

func TestTriggerKey(t *testing.T) {
	deleted := func(obj *unstructured.Unstructured) {
		now := metav1.Now()
		obj.SetDeletionTimestamp(&now)
	}
	size := watches.Trigger{Fields: []string{"spec.size"}}
	grows := watches.Trigger{When: "self.spec.size > oldSelf.spec.size"}
	tier := watches.Trigger{Labels: watches.Choice{Some: []string{"tier"}}}
	tests := map[string]struct {
		reason  string
		trigger watches.Trigger
		obj     *unstructured.Unstructured // after a resource with size 1
		want    engine.Trigger             // empty: does not wake
	}{
		"Field":            {"the field changed", size, resource(spec(map[string]any{"size": int64(2)})), engine.TriggerSpec},
		"OtherField":       {"another field changed", size, resource(spec(map[string]any{"size": int64(1), "color": "red"})), ""},
		"FieldGone":        {"the field is gone", size, resource(spec(map[string]any{})), engine.TriggerSpec},
		"FieldAndLabel":    {"labels do not count beside fields", size, resource(labelled("tier", "x")), ""},
		"LabelAsField":     {"unless one is a field", watches.Trigger{Fields: []string{"metadata.labels.tier"}}, resource(labelled("tier", "x")), engine.TriggerMetadata},
		"SpecBesideLabel":  {"a field that is a label leaves out the spec", watches.Trigger{Fields: []string{"metadata.labels.tier"}}, resource(spec(map[string]any{"size": int64(2)})), ""},
		"Annotation":       {"a field that is an annotation", watches.Trigger{Fields: []string{`metadata.annotations["a/b"]`}}, resource(annotated("a/b", "x")), engine.TriggerMetadata},
		"WhenTrue":         {"the condition holds", grows, resource(spec(map[string]any{"size": int64(2)})), engine.TriggerSpec},
		"WhenFalse":        {"the condition does not hold", grows, resource(spec(map[string]any{"size": int64(0)})), ""},
		"WhenFails":        {"the condition cannot be evaluated: that counts", grows, resource(spec(map[string]any{})), engine.TriggerSpec},
		"WhenAndRequest":   {"a request counts in any case", grows, resource(spec(map[string]any{"size": int64(0)}), annotated("chartbook.dev/reconcile-requested-at", "now")), engine.TriggerRequest},
		"WhenAndDeletion":  {"so does deletion", grows, resource(deleted), engine.TriggerDeletion},
		"WhenAndSelector":  {"so does leaving the selector", grows, resource(func(obj *unstructured.Unstructured) { obj.SetLabels(nil) }), engine.TriggerMetadata},
		"WhenAndLabel":     {"the condition is asked about labels, too", watches.Trigger{When: "false", Labels: watches.Choice{All: true}}, resource(labelled("tier", "x")), ""},
		"Label":            {"a label that was asked for (UP D8)", tier, resource(labelled("tier", "x")), engine.TriggerMetadata},
		"OtherLabel":       {"another label", tier, resource(labelled("zone", "x")), ""},
		"AnyLabel":         {"all labels", watches.Trigger{Labels: watches.Choice{All: true}}, resource(labelled("zone", "x")), engine.TriggerMetadata},
		"LabelsAndSpec":    {"labels come beside the spec and not in its place", tier, resource(spec(map[string]any{"size": int64(2)})), engine.TriggerSpec},
		"SomeAnnotation":   {"an annotation that was asked for", watches.Trigger{Annotations: watches.Choice{Some: []string{"a/b"}}}, resource(annotated("a/b", "x")), engine.TriggerMetadata},
		"OtherAnnotation":  {"another annotation", watches.Trigger{Annotations: watches.Choice{Some: []string{"a/b"}}}, resource(annotated("a/c", "x")), ""},
		"RecordAnnotation": {"our record never counts", watches.Trigger{Annotations: watches.Choice{All: true}}, resource(annotated("chartbook.dev/status", "x")), ""},
		"Status": {"status does not wake (UP D8)", watches.Trigger{Labels: watches.Choice{All: true}, Annotations: watches.Choice{All: true}},
			resource(func(obj *unstructured.Unstructured) { obj.Object["status"] = map[string]any{"x": "y"} }), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := filterFor(t, tt.trigger, logr.Discard()).triggerOf(resource(), tt.obj)
			if ok != (tt.want != "") || ok && got != tt.want {
				t.Errorf("%s: got %q, %v, want %q", tt.reason, got, ok, tt.want)
			}
		})
	}
}

// A condition that cannot be evaluated is told once, without what stands in the resource, and has no race.
func TestFailingConditionIsToldOnce(t *testing.T) {
	var mu sync.Mutex
	var told []string
	log := funcr.New(func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, line)
	}, funcr.Options{})
	filter := filterFor(t, watches.Trigger{When: "int(self.spec.token) > 0"}, log)
	secret := resource(spec(map[string]any{"token": "hunter2"}))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { filter.triggerOf(resource(), secret) })
	}
	all.Wait()
	if len(told) != 1 || strings.Contains(told[0], "hunter2") || !strings.Contains(told[0], "type conversion") {
		t.Errorf("told: %q; want one line with the sort of the error", told)
	}
}

func TestPaths(t *testing.T) {
	choice := watches.Trigger{Labels: watches.Choice{Some: []string{"tier"}}, Fields: []string{"spec.size"}}
	tests := map[string]struct {
		reason  string
		old     *unstructured.Unstructured
		obj     *unstructured.Unstructured
		want    []string
		because string
	}{
		"Spec": {"what does not wake is told with what does", resource(),
			resource(spec(map[string]any{"size": int64(2), "color": "red"})), []string{"spec.color", "spec.size"}, "spec.color and spec.size changed"},
		"Label": {"labels that count", resource(), resource(labelled("tier", "x"), labelled("zone", "y")),
			[]string{"metadata.labels.tier"}, "metadata.labels.tier changed"},
		"Secret": {"names of keys, never what they hold",
			resource(func(obj *unstructured.Unstructured) {
				obj.SetGeneration(0)
				obj.Object["data"] = map[string]any{"token": "hunter1"}
			}),
			resource(func(obj *unstructured.Unstructured) {
				obj.SetGeneration(0)
				obj.Object["data"] = map[string]any{"token": "hunter2"}
			}), []string{"data.token"}, "data.token changed"},
		"Unselected": {"what is outside the selector has no content in the cache", resource(func(obj *unstructured.Unstructured) {
			obj.SetLabels(nil)
			delete(obj.Object, "spec")
		}), resource(), nil, "the spec changed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			n := filterFor(t, choice, logr.Discard()).news(tt.old, tt.obj, engine.TriggerSpec)
			if diff := cmp.Diff(tt.want, n.paths.List()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if got := n.reason(engine.TriggerSpec); got != tt.because {
				t.Errorf("the reason is %q, want %q", got, tt.because)
			}
		})
	}
}

func TestFollowsStatus(t *testing.T) {
	job := schema.GroupKind{Group: "batch", Kind: "Job"}
	tests := []struct {
		reason string
		kinds  watches.Choice
		want   bool
	}{
		{"all kinds", watches.Choice{All: true}, true},
		{"the kind", watches.Choice{Some: []string{"Job"}}, true},
		{"the kind of its group", watches.Choice{Some: []string{"Job.batch"}}, true},
		{"the kind of another group", watches.Choice{Some: []string{"Job.example.com"}}, false},
		{"another kind", watches.Choice{Some: []string{"Pod"}}, false},
	}
	for _, tt := range tests {
		if got := followsStatus(tt.kinds)(job); got != tt.want {
			t.Errorf("%s: %v", tt.reason, got)
		}
	}
	if followsStatus(watches.Choice{}) != nil {
		t.Error("status is followed although no kind was chosen")
	}
}

// large is a resource with a spec of 10 KiB.
func large(size int64, edits ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	var ports []any
	for i := range 120 {
		ports = append(ports, map[string]any{"name": fmt.Sprintf("port-%030d", i), "port": int64(i), "protocol": "TCP"})
	}
	edits = append([]func(*unstructured.Unstructured){spec(map[string]any{"size": size, "ports": ports})}, edits...)
	return resource(edits...)
}

// BenchmarkFilter measures what one event of a resource with a spec of 10 KiB costs.
func BenchmarkFilter(b *testing.B) {
	newer := func(obj *unstructured.Unstructured) { obj.SetGeneration(3) }
	secret := func(obj *unstructured.Unstructured) { obj.SetGeneration(0) }
	trigger := watches.Trigger{Fields: []string{"spec.size", "spec.ports[*].port"}, When: "self.spec.size > oldSelf.spec.size"}
	for _, bm := range []struct {
		name     string
		trigger  watches.Trigger
		old, obj *unstructured.Unstructured
	}{
		{"Status", watches.Trigger{}, large(1), large(1)},
		{"Spec", watches.Trigger{}, large(1), large(2, newer)},
		{"SpecWithTrigger", trigger, large(1), large(2, newer)},
		{"NoGeneration", watches.Trigger{}, large(1, secret), large(1, secret)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			filter := filterFor(b, bm.trigger, logr.Discard())
			b.ReportAllocs()
			for b.Loop() {
				reason, _ := filter.triggerOf(bm.old, bm.obj)
				filter.news(bm.old, bm.obj, reason)
			}
		})
	}
}
