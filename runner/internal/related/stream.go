package related

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// streamKey is what a stream follows in a place: one object, what a label selector chooses, or with neither all.
type streamKey struct {
	place
	name, selector string
}

// stream follows objects for those who refer to them. It is the store that a client-go reflector fills.
type stream struct {
	key      streamKey
	registry *Registry
	cancel   context.CancelFunc // nil while it does not run

	// Guarded by registry.mu.
	records       map[string]record // by name
	version       string            // the newest resourceVersion that was seen
	synced        bool              // the first list is in
	broken        bool              // it is not watched at the moment
	clusterScoped bool
	links         map[string]map[*link]struct{} // by the name that they refer to; empty for a selector
}

var _ cache.TransformingStore = (*stream)(nil)

func newStream(r *Registry, key streamKey) *stream {
	return &stream{key: key, registry: r, records: map[string]record{}, links: map[string]map[*link]struct{}{}}
}

func (s *stream) attach(l *link) {
	l.stream = s
	if s.links[l.name] == nil {
		s.links[l.name] = map[*link]struct{}{}
	}
	s.links[l.name][l] = struct{}{}
}

func (s *stream) detach(l *link) {
	delete(s.links[l.name], l)
	if len(s.links[l.name]) == 0 {
		delete(s.links, l.name)
	}
}

// named is a record with its name.
type named struct {
	name string
	record
}

// Transformer keeps the reflector from holding a whole list of whole objects.
func (s *stream) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) { return s.reduce(obj) }
}

func (s *stream) reduce(obj any) (named, error) {
	switch obj := obj.(type) {
	case named:
		return obj, nil
	case *unstructured.Unstructured:
		return named{obj.GetName(), newRecord(obj)}, nil
	default:
		return named{}, fmt.Errorf("follow objects of kind %s: got a %T", s.key.gvk.Kind, obj)
	}
}

// Add implements cache.ReflectorStore.
func (s *stream) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *stream) Update(obj any) error {
	r, err := s.reduce(obj)
	if err != nil {
		return err
	}
	s.deliver(func() []*link {
		s.records[r.name] = r.record
		s.saw(r.version)
		return s.linksTo(r.name)
	})
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *stream) Delete(obj any) error {
	r, err := s.reduce(obj)
	if err != nil {
		return err
	}
	s.deliver(func() []*link {
		delete(s.records, r.name)
		s.saw(r.version)
		return s.linksTo(r.name)
	})
	return nil
}

// Replace implements cache.ReflectorStore. It gets the result of a list.
func (s *stream) Replace(list []any, version string) error {
	fresh := make(map[string]record, len(list))
	for _, obj := range list {
		r, err := s.reduce(obj)
		if err != nil {
			return err
		}
		fresh[r.name] = r.record
	}
	s.deliver(func() []*link {
		s.records, s.synced = fresh, true
		s.saw(version)
		var all []*link
		for _, links := range s.links {
			for l := range links {
				all = append(all, l)
			}
		}
		return all
	})
	s.registry.log.V(1).Info("Related objects are known", "kind", s.key.gvk.String(), "namespace", s.key.namespace)
	return nil
}

// Resync implements cache.ReflectorStore. There is nothing to repeat.
func (s *stream) Resync() error { return nil }

func (s *stream) saw(version string) {
	if s.version == "" || newer(version, s.version) {
		s.version = version
	}
}

// linksTo returns who refers to an object of this name, or to whatever the stream follows.
func (s *stream) linksTo(name string) []*link {
	var out []*link
	for _, key := range []string{name, ""} {
		for l := range s.links[key] {
			out = append(out, l)
		}
	}
	return out
}

// deliver takes a change in and wakes those who see another state than before. Those that run look at the end of
// their run.
func (s *stream) deliver(take func() []*link) {
	type call struct {
		watch *Watch
		name  types.NamespacedName
	}
	calls := map[call]struct{}{}
	func() {
		s.registry.mu.Lock()
		defer s.registry.mu.Unlock()
		for _, l := range take() {
			o := s.registry.owners[l.owner]
			if o != nil && !o.running && l.changed() {
				calls[call{l.owner.watch, l.owner.name}] = struct{}{}
			}
		}
	}()
	for c := range calls {
		c.watch.fire(c.name)
	}
}
