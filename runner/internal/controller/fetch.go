package controller

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reader reads resources from the cache, and from memory what the controller has written itself and the cache does
// not show yet: a run must not start from the state before the last one.
type reader struct {
	gvk   schema.GroupVersionKind
	cache client.Reader
	mu    sync.Mutex
	own   map[types.NamespacedName]*unstructured.Unstructured
}

func newReader(gvk schema.GroupVersionKind, cache client.Reader) *reader {
	return &reader{gvk: gvk, cache: cache, own: map[types.NamespacedName]*unstructured.Unstructured{}}
}

// get returns the newest known state of a resource, to be changed freely, or nil when there is none.
func (r *reader) get(ctx context.Context, key types.NamespacedName) (*unstructured.Unstructured, error) {
	obj := ofKind(r.gvk)
	err := r.cache.Get(ctx, key, obj)
	switch {
	case apierrors.IsNotFound(err):
		r.forget(key)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s %s: %w", r.gvk.Kind, key, err)
	}
	return r.newest(key, obj), nil
}

func (r *reader) newest(key types.NamespacedName, cached *unstructured.Unstructured) *unstructured.Unstructured {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.own[key]
	if own == nil {
		return cached
	}
	if own.GetUID() == cached.GetUID() && newer(own, cached) {
		return own.DeepCopy()
	}
	delete(r.own, key) // the cache has caught up
	return cached
}

// wrote remembers the state of a resource as the API server answered a write.
func (r *reader) wrote(obj *unstructured.Unstructured) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own[keyOf(obj)] = obj.DeepCopy()
}

func (r *reader) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.own, key)
}

// ofKind returns an object that has nothing but a kind.
func ofKind(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	return obj
}

// newer reports whether a is a later state of an object than b.
func newer(a, b *unstructured.Unstructured) bool {
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order > 0
}
