package controller

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

func resource(edits ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "spec": map[string]any{"size": int64(1)}}}
	obj.SetGeneration(1)
	obj.SetLabels(map[string]string{"app": "web"})
	for _, edit := range edits {
		edit(obj)
	}
	return obj
}

func annotated(key, value string) func(*unstructured.Unstructured) {
	return func(obj *unstructured.Unstructured) {
		all := obj.GetAnnotations()
		if all == nil {
			all = map[string]string{}
		}
		all[key] = value
		obj.SetAnnotations(all)
	}
}

func TestTriggerOf(t *testing.T) {
	deleted := func(obj *unstructured.Unstructured) {
		now := metav1.Now()
		obj.SetDeletionTimestamp(&now)
	}
	noGeneration := func(obj *unstructured.Unstructured) { obj.SetGeneration(0) }
	status := func(obj *unstructured.Unstructured) { obj.Object["status"] = map[string]any{"x": "y"} }
	secret := func(value string) func(*unstructured.Unstructured) {
		return func(obj *unstructured.Unstructured) { obj.Object["data"] = map[string]any{"token": value} }
	}
	builtIn := func(obj *unstructured.Unstructured) { obj.SetAPIVersion("apps/v1") }
	unlabelled := func(obj *unstructured.Unstructured) { obj.SetLabels(nil) }
	newer := func(obj *unstructured.Unstructured) { obj.SetGeneration(2) }

	tests := map[string]struct {
		reason      string
		annotations bool
		old, obj    *unstructured.Unstructured
		want        engine.Trigger // empty: does not wake
	}{
		"Spec":              {reason: "a new generation is a new spec", old: resource(), obj: resource(newer), want: engine.TriggerSpec},
		"Status":            {reason: "status is our own doing or another controller's", old: resource(), obj: resource(status)},
		"SecretData":        {reason: "a kind without generations is compared by content", old: resource(noGeneration, secret("a")), obj: resource(noGeneration, secret("b")), want: engine.TriggerSpec},
		"SecretUnchanged":   {reason: "the same content is no change, or the record in the annotation would wake its own resource for ever", old: resource(noGeneration, secret("a")), obj: resource(noGeneration, secret("a"), annotated("chartbook.dev/status", "{}"))},
		"LeavesSelector":    {reason: "leaving the selector has to be noticed", old: resource(), obj: resource(unlabelled), want: engine.TriggerMetadata},
		"EntersSelector":    {reason: "a label that comes late has to be noticed", old: resource(unlabelled), obj: resource(), want: engine.TriggerMetadata},
		"BuiltInGeneration": {reason: "a Deployment's generation counts annotations, our record among them", old: resource(builtIn), obj: resource(builtIn, newer)},
		"OtherAnnotation":   {reason: "annotations do not count unless the watch asks for it", old: resource(), obj: resource(annotated("a", "b"))},
		"WatchAnnotations":  {reason: "watchAnnotationsChanges asks for it", annotations: true, old: resource(), obj: resource(annotated("a", "b")), want: engine.TriggerMetadata},
		"RecordAnnotation":  {reason: "our own record never counts", annotations: true, old: resource(), obj: resource(annotated("chartbook.dev/status", "{}"))},
		"Request":           {reason: "our annotations are orders", old: resource(), obj: resource(annotated("chartbook.dev/reconcile-requested-at", "now")), want: engine.TriggerRequest},
		"Deletion":          {reason: "the deletion timestamp is there for the first time", old: resource(), obj: resource(deleted), want: engine.TriggerDeletion},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			selector := labels.SelectorFromSet(labels.Set{"app": "web"})
			filter := changeFilter{selector: selector, annotations: watches.Choice{All: tt.annotations}, record: "chartbook.dev/status"}
			got, ok := filter.triggerOf(tt.old, tt.obj)
			if got != tt.want && (ok || tt.want != "") || ok != (tt.want != "") {
				t.Errorf("%s: got %q, %v, want %q", tt.reason, got, ok, tt.want)
			}
		})
	}
}

func TestDeletionInProgressWakesForFinalizersOnly(t *testing.T) {
	now := metav1.Now()
	deleted := func(finalizers ...string) *unstructured.Unstructured {
		return resource(func(obj *unstructured.Unstructured) {
			obj.SetDeletionTimestamp(&now)
			obj.SetFinalizers(finalizers)
		})
	}
	filter := changeFilter{}
	if _, ok := filter.triggerOf(deleted("a", "b"), deleted("b")); !ok {
		t.Error("a finalizer that goes does not wake")
	}
	if _, ok := filter.triggerOf(deleted("a"), deleted("a")); ok {
		t.Error("a write of status wakes a resource on its way out, again and again")
	}
	if trigger, ok := filter.triggerOf(deleted("a"), resource(func(obj *unstructured.Unstructured) {
		obj.SetDeletionTimestamp(&now)
		obj.SetFinalizers([]string{"a"})
		annotated("chartbook.dev/skip-finalizer", "true")(obj)
	})); !ok || trigger != engine.TriggerRequest {
		t.Errorf("the order to skip the finalizer is %q, %v", trigger, ok)
	}
}
