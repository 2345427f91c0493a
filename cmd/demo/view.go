package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// view is the demo's eye on the namespace: it watches kinds and wakes whoever waits when something has changed,
// there, in the log or at the store.
type view struct {
	cache cache.Cache

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change
}

func newView(k *kube) (*view, error) {
	c, err := cache.New(k.config, cache.Options{
		Mapper:            k.RESTMapper(),
		DefaultNamespaces: map[string]cache.Config{k.namespace: {}},
	})
	if err != nil {
		return nil, fmt.Errorf("make a cache of namespace %s: %w", k.namespace, err)
	}
	return &view{cache: c, changed: make(chan struct{})}, nil
}

// watch calls seen for each object of a kind that is there, appears or changes, and gone for each that goes.
func (v *view) watch(ctx context.Context, gvk schema.GroupVersionKind, seen func(*unstructured.Unstructured)) error {
	informer, err := v.cache.GetInformer(ctx, named(gvk, "", ""), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch %s: %w", gvk.Kind, err)
	}
	handle := func(obj any) {
		if u, ok := obj.(*unstructured.Unstructured); ok && seen != nil {
			seen(u)
		}
		v.notify()
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, obj any) { handle(obj) },
		DeleteFunc: func(obj any) {
			if last, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = last.Obj
			}
			handle(obj)
		},
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", gvk.Kind, err)
	}
	return nil
}

// notify wakes whoever waits.
func (v *view) notify() {
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.changed)
	v.changed = make(chan struct{})
}

// await returns when check finds nothing missing. It is asked again at each change, until ctx ends or the error is
// one that no change takes away.
func (v *view) await(ctx context.Context, check func() error) error {
	for {
		v.mu.Lock()
		changed := v.changed
		v.mu.Unlock()
		missing := check()
		if missing == nil || errors.Is(missing, errStalled) {
			return missing
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), missing)
		case <-changed:
		}
	}
}

// get returns the named object as it was last seen, or nil if it is not there. Its kind must be a watched one.
func (v *view) get(ctx context.Context, named *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(named.GroupVersionKind())
	err := v.cache.Get(ctx, client.ObjectKeyFromObject(named), obj)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for %s: %w", describe(named), err)
	}
	return obj, nil
}

// ownedBy returns the objects of the given kinds that are owned by the object with this UID.
func (v *view) ownedBy(ctx context.Context, owner types.UID, kinds ...schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
	var owned []*unstructured.Unstructured
	for _, gvk := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		if err := v.cache.List(ctx, list); err != nil {
			return nil, fmt.Errorf("look for children of kind %s: %w", gvk.Kind, err)
		}
		for i := range list.Items {
			for _, ref := range list.Items[i].GetOwnerReferences() {
				if ref.UID == owner {
					owned = append(owned, &list.Items[i])
				}
			}
		}
	}
	return owned, nil
}
