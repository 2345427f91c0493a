package controller

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/fieldpath"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// annotationPrefix is the prefix of the annotations by which people steer a resource. A change of one of them
// always counts.
const annotationPrefix = "chartbook.dev/"

// changeFilter says which changes of a primary resource count, and as what. It is pure. See trigger.go for what a watch
// may say about it.
type changeFilter struct { //nolint:recvcheck // few methods change it, and they are called while it is made
	selector    labels.Selector
	fields      []fieldpath.Path                               // places in the content that count; nil for all
	labels      watches.Choice                                 // labels that count
	annotations watches.Choice                                 // annotations that count
	when        func(old, obj *unstructured.Unstructured) bool // must hold for these to count; nil for always
	record      string                                         // the annotation in which we keep a record ourselves; it never counts
}

// triggerOf returns why the step from old to new wakes the resource; ok is false when it does not.
func (f changeFilter) triggerOf(old, obj *unstructured.Unstructured) (trigger engine.Trigger, ok bool) {
	switch {
	case obj.GetDeletionTimestamp() != nil:
		return f.triggerOfDeleted(old, obj)
	case f.contentCounts(old, obj) && f.holds(old, obj):
		return engine.TriggerSpec, true
	case f.matches(old) != f.matches(obj):
		return engine.TriggerMetadata, true
	case f.steered(old, obj):
		return engine.TriggerRequest, true
	case f.metadataCounts(old, obj) && f.holds(old, obj):
		return engine.TriggerMetadata, true
	}
	return "", false
}

// triggerOfFound returns the cause for a resource that is seen for the first time. In the first list the ones come first
// whose run was interrupted when the operator ended, or whose spec has changed since.
func triggerOfFound(obj *unstructured.Unstructured, initial bool) engine.Trigger {
	record := status.Read(status.Of(obj))
	switch {
	case obj.GetDeletionTimestamp() != nil:
		return engine.TriggerDeletion
	case !initial:
		return engine.TriggerSpec
	case record.InProgress:
		return engine.TriggerRetry
	case record.ObservedGeneration != 0 && record.ObservedGeneration != generationOf(obj):
		return engine.TriggerSpec
	}
	return engine.TriggerInitial
}

// triggerOfDeleted is triggerOf for a resource on its way out.
func (f changeFilter) triggerOfDeleted(old, obj *unstructured.Unstructured) (trigger engine.Trigger, ok bool) {
	switch {
	case old.GetDeletionTimestamp() == nil:
		return engine.TriggerDeletion, true
	case f.steered(old, obj):
		return engine.TriggerRequest, true
	case contentChanged(old, obj):
		return engine.TriggerSpec, true // what the finalizer failed over may have been put right
	}
	return engine.TriggerDeletion, !slices.Equal(old.GetFinalizers(), obj.GetFinalizers())
}

func (f changeFilter) matches(obj *unstructured.Unstructured) bool {
	return f.selector == nil || f.selector.Matches(labels.Set(obj.GetLabels()))
}

// cancels reports whether someone asks for the end of the run in progress. That wakes nothing: there is to be no run.
func (f changeFilter) cancels(old, obj *unstructured.Unstructured) bool {
	asked := obj.GetAnnotations()[cancelAnnotation]
	return asked != "" && asked != old.GetAnnotations()[cancelAnnotation]
}

// steered reports whether one of our own annotations changed by someone else's hand.
func (f changeFilter) steered(old, obj *unstructured.Unstructured) bool {
	return !equality.Semantic.DeepEqual(f.ownAnnotations(old), f.ownAnnotations(obj))
}

func (f changeFilter) ownAnnotations(obj *unstructured.Unstructured) map[string]string {
	own := map[string]string{}
	for key, value := range obj.GetAnnotations() {
		if strings.HasPrefix(key, annotationPrefix) && key != f.record && key != cancelAnnotation {
			own[key] = value
		}
	}
	return own
}

func (f changeFilter) foreignAnnotations(obj *unstructured.Unstructured) map[string]string {
	foreign := map[string]string{}
	for key, value := range obj.GetAnnotations() {
		if key != f.record && key != cancelAnnotation {
			foreign[key] = value
		}
	}
	return foreign
}

// contentChanged compares generations, which the API server counts up with every change outside metadata and
// status. Built-in kinds have none (Secret) or count changes of annotations too (Deployment), so that our own record in
// one would look like a new spec; their content is compared instead.
func contentChanged(old, obj *unstructured.Unstructured) bool {
	before, after := generationOf(old), generationOf(obj)
	if before != 0 || after != 0 {
		return before != after
	}
	return !fieldpath.Equal(contentOf(old), contentOf(obj))
}

// generationOf returns the generation of a resource's spec; zero for kinds whose generations do not say that.
func generationOf(obj *unstructured.Unstructured) int64 {
	if status.BuiltIn(obj.GroupVersionKind()) {
		return 0
	}
	return obj.GetGeneration()
}

// contentOf returns everything but metadata and status.
func contentOf(obj *unstructured.Unstructured) map[string]any {
	content := maps.Clone(obj.Object)
	delete(content, "metadata")
	delete(content, "status")
	return content
}
