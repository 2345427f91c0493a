package dependents

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// stream follows the objects of one kind in one namespace, or in all. It is the store that a client-go reflector
// fills: lists and events come in, changes that matter go out.
type stream struct {
	registry  *Registry
	kind      *kind
	namespace string // empty for all
	gvk       schema.GroupVersionKind
	// reduce makes a record of an object.
	reduce func(*unstructured.Unstructured) *record
	// synced is called after each list.
	synced func()

	// Guarded by registry.mu.
	records map[types.NamespacedName]*record // of the objects that have an owner
	listed  bool                             // records are complete but for what happened since
}

var _ cache.TransformingStore = (*stream)(nil)

// Transformer keeps the reflector from holding a whole list of whole objects.
func (s *stream) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) { return s.record(obj) }
}

func (s *stream) record(obj any) (*record, error) {
	switch obj := obj.(type) {
	case *record:
		return obj, nil
	case *unstructured.Unstructured:
		return s.reduce(obj), nil
	default:
		return nil, fmt.Errorf("follow objects of kind %s: got a %T", s.gvk.Kind, obj)
	}
}

// Add implements cache.ReflectorStore.
func (s *stream) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *stream) Update(obj any) error {
	r, err := s.record(obj)
	if err != nil {
		return err
	}
	s.registry.deliver(func() []change { return s.put(r, false) })
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *stream) Delete(obj any) error {
	r, err := s.record(obj)
	if err != nil {
		return err
	}
	s.registry.deliver(func() []change { return s.remove(r.name) })
	return nil
}

// Replace implements cache.ReflectorStore. It gets the result of a list.
func (s *stream) Replace(list []any, version string) error {
	fresh := make([]*record, 0, len(list))
	for _, obj := range list {
		r, err := s.record(obj)
		if err != nil {
			return err
		}
		fresh = append(fresh, r)
	}
	s.registry.deliver(func() []change { return s.replace(fresh, version) })
	s.synced()
	return nil
}

// Resync implements cache.ReflectorStore. There is nothing to repeat: a record that did not change is no news.
func (s *stream) Resync() error { return nil }

func (s *stream) replace(fresh []*record, version string) []change {
	var changes []change
	if !s.listed {
		changes = s.missed(fresh, version)
	}
	s.listed = true
	gone := make(map[types.NamespacedName]bool, len(s.records))
	for name := range s.records {
		gone[name] = true
	}
	for _, r := range fresh {
		delete(gone, r.name)
		changes = append(changes, s.put(r, true)...)
	}
	for name := range gone {
		changes = append(changes, s.remove(name)...)
	}
	return changes
}

// put takes note of an object as it is now. An object that is seen for the first time is no change: either a run
// made it, or the operator has just begun to look; but see status.go. listed says that the object comes from a list.
func (s *stream) put(now *record, listed bool) []change {
	before := s.records[now.name]
	if len(now.owners) > 0 {
		s.records[now.name] = now
	} else {
		delete(s.records, now.name)
	}
	switch {
	case now.terminating:
		return nil
	case before == nil:
		return s.appeared(now, listed)
	}
	concerned := before.owners
	if len(now.owners) > 0 && now.applied.same(before.applied) {
		concerned = slices.DeleteFunc(slices.Clone(before.owners), func(o ownerKey) bool { return slices.Contains(now.owners, o) })
		return append(s.change(now, Edited, concerned), s.statusChange(before, now)...)
	}
	return s.change(now, Edited, concerned)
}

func (s *stream) remove(name types.NamespacedName) []change {
	before := s.records[name]
	if before == nil {
		return nil
	}
	delete(s.records, name)
	return s.change(before, Deleted, before.owners)
}

func (s *stream) change(r *record, why Why, owners []ownerKey) []change {
	if len(owners) == 0 {
		return nil
	}
	return []change{{child: r.child(s.gvk), uid: r.uid, version: r.version, why: why, owners: owners}}
}
