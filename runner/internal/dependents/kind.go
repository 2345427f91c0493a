package dependents

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

// kind is a kind of child that is watched for some primaries.
type kind struct {
	registry *Registry
	asked    schema.GroupVersionKind // in the version that was asked for first
	// renew has a value when the set of primaries changed, so that objects have to be looked at anew.
	renew chan struct{}

	// Guarded by registry.mu.
	stop          func() // ends the goroutine; nil before there is one
	subscriptions []*subscription
	clusterScoped bool               // as far as known
	streams       map[string]*stream // by namespace; empty for all
	trouble       map[string]Unwatched
	unseen        map[types.UID]unseen
}

// subscription is a primary's interest in a kind of child.
type subscription struct {
	primary *Primary
	needed  time.Time // when a run last asked for it, or a child was last known
}

func newKind(r *Registry, child schema.GroupVersionKind) *kind {
	return &kind{
		registry: r,
		asked:    child,
		renew:    make(chan struct{}, 1),
		streams:  map[string]*stream{},
		trouble:  map[string]Unwatched{},
	}
}

// subscribe adds a primary, or notes that it is still interested. The registry's lock must be held.
func (k *kind) subscribe(p *Primary) {
	now := k.registry.clock.Now()
	if s := k.subscriptionOf(p); s != nil {
		s.needed = now
		return
	}
	k.subscriptions = append(k.subscriptions, &subscription{primary: p, needed: now})
	notify(k.renew)
}

// subscriptionOf returns a primary's subscription, or nil. The registry's lock must be held.
func (k *kind) subscriptionOf(p *Primary) *subscription {
	i := slices.IndexFunc(k.subscriptions, func(s *subscription) bool { return s.primary == p })
	if i < 0 {
		return nil
	}
	return k.subscriptions[i]
}

// run keeps the watch up until ctx is done.
func (k *kind) run(ctx context.Context) {
	delay := newDelay(k.registry.clock)
	for ctx.Err() == nil {
		mapping, err := k.resolve()
		switch {
		case err != nil:
			k.fails("", k.troubleOf(err, schema.GroupVersionResource{}))
		case k.follow(ctx, mapping):
			continue
		default:
			meta.MaybeResetRESTMapper(k.registry.mapper) // it still knows a resource that is gone
		}
		k.pause(ctx, delay)
	}
}

// resolve finds out the kind's resource and scope. If the version asked for is not served any more, another will do.
func (k *kind) resolve() (*meta.RESTMapping, error) {
	mapper := k.registry.mapper
	mapping, err := mapper.RESTMapping(k.asked.GroupKind(), k.asked.Version)
	if !meta.IsNoMatchError(err) {
		return mapping, err
	}
	meta.MaybeResetRESTMapper(mapper)
	if mapping, err = mapper.RESTMapping(k.asked.GroupKind(), k.asked.Version); !meta.IsNoMatchError(err) {
		return mapping, err
	}
	return mapper.RESTMapping(k.asked.GroupKind())
}

// pause waits before another try.
func (k *kind) pause(ctx context.Context, delay wait.DelayFunc) {
	select {
	case <-ctx.Done():
	case <-k.registry.clock.After(delay()):
	}
}

// follow watches the resource in all namespaces that are wanted. It returns when the set of primaries changed (true),
// or when the resource is not served any more or ctx is done (false).
func (k *kind) follow(ctx context.Context, mapping *meta.RESTMapping) bool {
	ctx, cancel := context.WithCancel(ctx)
	var streams sync.WaitGroup
	defer streams.Wait()
	defer cancel()
	// Drained before the primaries are read: one that subscribes in between is either among them or renews again.
	select {
	case <-k.renew:
	default:
	}
	clusterScoped := mapping.Scope.Name() == meta.RESTScopeNameRoot
	primaries := k.interested(clusterScoped)
	gone := make(chan struct{}, 1)
	for _, namespace := range k.namespaces(clusterScoped, len(primaries) > 0) {
		s := k.stream(namespace, mapping.GroupVersionKind, primaries)
		streams.Go(func() {
			if k.watch(ctx, s, namespace, mapping.Resource) {
				notify(gone)
			}
		})
	}
	select {
	case <-k.renew:
		return true
	case <-gone:
	case <-ctx.Done():
	}
	return false
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// interested returns the primaries that want children of this scope.
func (k *kind) interested(clusterScoped bool) []*Primary {
	k.registry.mu.Lock()
	defer k.registry.mu.Unlock()
	k.clusterScoped = clusterScoped
	var primaries []*Primary
	for _, s := range k.subscriptions {
		if s.primary.wants(clusterScoped) {
			primaries = append(primaries, s.primary)
		}
	}
	return primaries
}

// namespaces returns where to look.
func (k *kind) namespaces(clusterScoped, wanted bool) []string {
	if !wanted {
		return nil
	}
	return k.registry.namespacesFor(clusterScoped)
}

// namespacesFor returns where to look for objects; the empty namespace is all of them.
func (r *Registry) namespacesFor(clusterScoped bool) []string {
	if clusterScoped || len(r.namespaces) == 0 {
		return []string{""}
	}
	return r.namespaces
}

// stream returns the stream of a namespace, with the records that it had when the watch broke off.
func (k *kind) stream(namespace string, gvk schema.GroupVersionKind, primaries []*Primary) *stream {
	k.registry.mu.Lock()
	defer k.registry.mu.Unlock()
	s := &stream{
		registry:  k.registry,
		kind:      k,
		namespace: namespace,
		gvk:       gvk,
		reduce:    func(obj *unstructured.Unstructured) *record { return newRecord(obj, primaries) },
		records:   map[types.NamespacedName]*record{},
	}
	if before := k.streams[namespace]; before != nil && before.gvk == gvk {
		s.records, s.listed = before.records, before.listed
	}
	k.streams[namespace] = s
	return s
}
