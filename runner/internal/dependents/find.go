package dependents

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// This file finds out, after a start, which kinds of children runs of an earlier process made, so that these are
// watched although no run meets them. It asks for little and in no hurry: the metadata of objects, page by page, one
// request at a time, and of each kind no more than it takes to find one child for each primary. What may not be read
// is passed over in silence; a run that makes such a child will tell.

const (
	gather    = 2 * time.Second // how long to wait for further primaries, which tend to come all at once
	findPage  = 250             // objects in one answer
	findQPS   = 20              // requests in a second, at most
	maxRounds = 5               // tries for a kind that could not be read
)

// Discovery is the part of client-go's discovery client that is needed.
type Discovery interface {
	ServerPreferredResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error)
}

// finder looks for children of primaries that were added to a registry.
type finder struct {
	registry  *Registry
	discovery Discovery
	client    metadata.Interface
	requests  int
}

func newFinder(r *Registry, config Config) (*finder, error) {
	slow := rest.CopyConfig(config.RESTConfig)
	slow.QPS, slow.Burst, slow.RateLimiter = findQPS, findQPS, nil
	withoutWarnings(slow) // that a kind is deprecated is for those who use it
	client, err := metadata.NewForConfig(slow)
	if err != nil {
		return nil, fmt.Errorf("make a client to look for children: %w", err)
	}
	return &finder{registry: r, discovery: config.Discovery, client: client}, nil
}

// run looks for children of each primary once, until ctx is done.
func (f *finder) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.registry.added:
		}
		if !f.sleep(ctx, gather) {
			return
		}
		f.find(ctx, f.registry.takeUnsought())
	}
}

// takeUnsought returns the primaries that were added since it was called last.
func (r *Registry) takeUnsought() []*Primary {
	r.mu.Lock()
	defer r.mu.Unlock()
	primaries := r.unsought
	r.unsought = nil
	return primaries
}

// sleep returns false if ctx was done first.
func (f *finder) sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-f.registry.clock.After(d):
		return true
	}
}

// find looks at all kinds, and again later at those that could not be read.
func (f *finder) find(ctx context.Context, primaries []*Primary) {
	f.requests = 0
	primaries = slices.DeleteFunc(primaries, func(p *Primary) bool { return !f.hasResources(ctx, p) })
	if len(primaries) == 0 {
		return
	}
	delay := newDelay(f.registry.clock)
	kinds := f.kinds(ctx, delay)
	count := len(kinds)
	for round := 1; len(kinds) > 0 && ctx.Err() == nil; round++ {
		kinds = slices.DeleteFunc(kinds, func(k listable) bool { return f.look(ctx, k, primaries) })
		if len(kinds) == 0 || round == maxRounds || !f.sleep(ctx, delay()) {
			break
		}
	}
	f.registry.log.V(1).Info("Looked for children of earlier runs", "primaries", len(primaries), "kinds", count,
		"requests", f.requests, "unreadable", len(kinds))
}

// hasResources reports whether there is any resource of a primary kind. Without one there is no child to wake it for.
func (f *finder) hasResources(ctx context.Context, p *Primary) bool {
	mapping, err := f.registry.mapper.RESTMapping(p.GVK.GroupKind(), p.GVK.Version)
	if err != nil {
		return true // who knows
	}
	for _, namespace := range f.registry.namespacesFor(p.ClusterScoped) {
		f.requests++
		list, err := f.client.Resource(mapping.Resource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil || len(list.Items) > 0 {
			return true
		}
	}
	return false
}

// look looks for children of one kind and has it watched for the primaries that have some. It returns false if it is
// worth another try.
func (f *finder) look(ctx context.Context, k listable, primaries []*Primary) bool {
	for _, namespace := range f.registry.namespacesFor(!k.namespaced) {
		sought := f.registry.without(k, primaries)
		if len(sought) == 0 {
			return true
		}
		if err := f.lookIn(ctx, k, namespace, sought); err != nil {
			f.registry.log.V(1).Info("Cannot look for children", "child", k.gvk.String(), "namespace", namespace, "cause", err.Error())
			if !final(err) {
				return false
			}
		}
	}
	return true
}

// final reports whether there is no point in asking again.
func final(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) ||
		apierrors.IsNotAcceptable(err)
}

// without returns the primaries that could have children of a kind and do not watch it yet.
func (r *Registry) without(k listable, primaries []*Primary) []*Primary {
	r.mu.Lock()
	defer r.mu.Unlock()
	watched := r.watched[k.gvk.GroupKind()]
	return slices.DeleteFunc(slices.Clone(primaries), func(p *Primary) bool {
		return !p.admits(k.gvk) || !p.wants(!k.namespaced) || watched != nil && watched.subscriptionOf(p) != nil
	})
}

// lookIn goes through objects of a kind until a child of each primary is found, or to the end.
func (f *finder) lookIn(ctx context.Context, k listable, namespace string, sought []*Primary) error {
	options := metav1.ListOptions{Limit: findPage}
	for {
		f.requests++
		list, err := f.client.Resource(k.resource).Namespace(namespace).List(ctx, options)
		if err != nil {
			return err
		}
		for i := range list.Items {
			sought = f.match(&list.Items[i], k, sought)
		}
		options.Continue = list.Continue
		if options.Continue == "" || len(sought) == 0 {
			return nil
		}
	}
}

// match watches a kind for those of the primaries that own an object of it, and returns the others.
func (f *finder) match(object metav1.Object, k listable, sought []*Primary) []*Primary {
	if labels := object.GetLabels(); k.gvk.Kind == "Secret" && (labels["owner"] == "helm" || labels["chartbook.dev/release"] != "") {
		return sought // the record of a release, which belongs to its resource and is nobody's content
	}
	return slices.DeleteFunc(sought, func(p *Primary) bool {
		if len(ownershipOf(ourOwners(object, p), []*Primary{p}).owners) == 0 {
			return false
		}
		f.registry.Watch(p.GVK, k.gvk)
		return true
	})
}

// ourOwners leaves out what Kubernetes itself makes of a built-in primary, like the ReplicaSets of a Deployment that a
// playbook decorates: their owner reference says that the owner is their controller. That of a playbook's objects does not.
func ourOwners(object metav1.Object, p *Primary) metav1.Object {
	if !p.BuiltIn {
		return object
	}
	kept := &metav1.PartialObjectMetadata{}
	kept.SetNamespace(object.GetNamespace())
	kept.SetAnnotations(object.GetAnnotations())
	for _, ref := range object.GetOwnerReferences() {
		if ref.Controller == nil || !*ref.Controller {
			kept.OwnerReferences = append(kept.OwnerReferences, ref)
		}
	}
	return kept
}
