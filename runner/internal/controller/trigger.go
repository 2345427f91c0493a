package controller

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/condition"
	"github.com/chartbook-operator/chartbook/runner/internal/fieldpath"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// newChangeFilter returns the filter that a watch asks for. The error is about an expression or path that package
// watches would have refused.
func newChangeFilter(w watches.Watch, selector labels.Selector, log logr.Logger) (changeFilter, error) {
	f := changeFilter{
		selector: selector, record: status.Annotation,
		labels: w.Trigger.Labels, annotations: w.Trigger.Annotations,
	}
	f.annotations.All = f.annotations.All || w.WatchAnnotationsChanges
	if err := f.addFields(w.Trigger.Fields); err != nil {
		return changeFilter{}, err
	}
	if w.Trigger.When != "" {
		compiled, err := condition.Compile(w.Trigger.When)
		if err != nil {
			return changeFilter{}, fmt.Errorf("compile trigger.when of %s: %w", w.GVK, err)
		}
		f.when = holdsOrFails(compiled, w.GVK, log)
	}
	return f, nil
}

// addFields lets only changes at certain paths count. Those of labels and annotations are looked at with the others of
// their sort: a change of them is not one of the content.
func (f *changeFilter) addFields(texts []string) error {
	if len(texts) == 0 {
		return nil
	}
	f.fields = []fieldpath.Path{}
	for _, text := range texts {
		path, err := fieldpath.Parse(text)
		switch {
		case err != nil:
			return fmt.Errorf("read trigger.fields: %q: %w", text, err)
		case path[0].Key != "metadata":
			f.fields = append(f.fields, path)
		case len(path) == 3 && path[1].Key == "labels":
			f.labels.Some = append(slices.Clip(f.labels.Some), path[2].Key)
		case len(path) == 3 && path[1].Key == "annotations":
			f.annotations.Some = append(slices.Clip(f.annotations.Some), path[2].Key)
		}
	}
	return nil
}

// holdsOrFails evaluates a condition. A change of which it cannot say anything counts: one run too many is better than
// a resource that sleeps on. The first error is told; most are about a key that not every resource has.
func holdsOrFails(c *condition.Condition, gvk schema.GroupVersionKind, log logr.Logger) func(old, obj *unstructured.Unstructured) bool {
	var told sync.Once
	return func(old, obj *unstructured.Unstructured) bool {
		holds, err := c.Holds(obj.Object, old.Object)
		if err != nil {
			told.Do(func() {
				log.Info("trigger.when cannot be evaluated; changes of which it says nothing count. Further errors are not told",
					"kind", gvk.Kind, "namespace", obj.GetNamespace(), "name", obj.GetName(), "cause", err.Error())
			})
			return true
		}
		return holds
	}
}

// holds reports whether the watch's condition lets a change count.
func (f changeFilter) holds(old, obj *unstructured.Unstructured) bool {
	return f.when == nil || f.when(old, obj)
}

// contentCounts reports whether the content changed in a place that counts.
func (f changeFilter) contentCounts(old, obj *unstructured.Unstructured) bool {
	if !contentChanged(old, obj) {
		return false
	}
	return f.fields == nil || slices.ContainsFunc(f.fields, func(path fieldpath.Path) bool {
		return path.Changed(old.Object, obj.Object)
	})
}

// metadataCounts reports whether one of the labels or annotations changed that count.
func (f changeFilter) metadataCounts(old, obj *unstructured.Unstructured) bool {
	return !fieldpath.Equal(f.chosenLabels(old), f.chosenLabels(obj)) ||
		!fieldpath.Equal(f.chosenAnnotations(old), f.chosenAnnotations(obj))
}

func (f changeFilter) chosenLabels(obj *unstructured.Unstructured) map[string]any {
	if f.labels.None() {
		return nil
	}
	return chosen(f.labels, obj.GetLabels())
}

func (f changeFilter) chosenAnnotations(obj *unstructured.Unstructured) map[string]any {
	if f.annotations.None() {
		return nil
	}
	return chosen(f.annotations, f.foreignAnnotations(obj))
}

func chosen(choice watches.Choice, all map[string]string) map[string]any {
	some := map[string]any{}
	for key, value := range all {
		if choice.Includes(key) {
			some[key] = value
		}
	}
	return some
}

// paths returns the places that changed, whether or not the change wakes the resource: the content, and those labels and
// annotations that count. Of what is outside the selector the content may not be known.
func (f changeFilter) paths(old, obj *unstructured.Unstructured) fieldpath.Set {
	var found fieldpath.Set
	if !f.matches(old) || !f.matches(obj) {
		return found
	}
	if contentChanged(old, obj) {
		found = fieldpath.Diff(nil, contentOf(old), contentOf(obj))
	}
	under := func(part string) fieldpath.Path { return fieldpath.Path{{Key: "metadata"}, {Key: part}} }
	found.Merge(fieldpath.Diff(under("labels"), f.chosenLabels(old), f.chosenLabels(obj)))
	found.Merge(fieldpath.Diff(under("annotations"), f.chosenAnnotations(old), f.chosenAnnotations(obj)))
	return found
}

// sentence says what happened where the changed paths do not.
func (f changeFilter) sentence(old, obj *unstructured.Unstructured) string {
	if now := f.matches(obj); f.matches(old) != now {
		if now {
			return "the labels begin to match the selector"
		}
		return "the labels cease to match the selector"
	}
	before, after := f.ownAnnotations(old), f.ownAnnotations(obj)
	var changed []string
	for key := range union(before, after) {
		if before[key] != after[key] {
			changed = append(changed, key)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	slices.Sort(changed)
	return "the annotation " + strings.Join(changed[:min(3, len(changed))], " and ") + " changed"
}

func union(a, b map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		maps.Copy(all, m)
	}
	return all
}

// statusesOf returns which kinds of children a watch follows the status of: one that waits for them follows all.
func statusesOf(w watches.Watch) watches.Choice {
	if w.Wait {
		return watches.Choice{All: true}
	}
	return w.Trigger.ChildStatus
}

// followsStatus says of which kinds of children the status wakes their owner; nil for none.
func followsStatus(kinds watches.Choice) func(schema.GroupKind) bool {
	if kinds.None() {
		return nil
	}
	return func(child schema.GroupKind) bool {
		return kinds.Includes(child.Kind) || kinds.Includes(child.Kind+"."+child.Group)
	}
}
