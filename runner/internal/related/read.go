package related

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Bounds of what a selector may choose.
const (
	maxObjects = 500
	pageSize   = 50
	maxBytes   = 8 << 20 // of all objects together, as JSON
)

// found is what is there of a target.
type found struct {
	objects []*unstructured.Unstructured // none: missing
	version string                       // resourceVersion of the list; empty for one object
	absent  string                       // why there is nothing, in words
	denial  *engine.Denial               // the right that is missing
}

// reader reads objects from the API server itself: a cache of them would have to list and hold all that the operator may
// see (UP C9).
type reader struct {
	client dynamic.Interface
	mapper meta.RESTMapper
}

// resource returns the client for a kind in a namespace, and how the API server knows the kind.
func (r reader) resource(gvk schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, *meta.RESTMapping, error) {
	mapping, err := r.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		meta.MaybeResetRESTMapper(r.mapper)
		mapping, err = r.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	if err != nil {
		return nil, nil, err
	}
	client := r.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return client, mapping, nil
	}
	if namespace == "" {
		return nil, nil, errNoNamespace
	}
	return client.Namespace(namespace), mapping, nil
}

var errNoNamespace = errors.New("the resource is in no namespace; the watches file has to name one")

// read reads what a target leads to. The error is for what may pass by itself.
func (r reader) read(ctx context.Context, t target) (found, error) {
	client, mapping, err := r.resource(t.gvk, t.namespace)
	switch {
	case meta.IsNoMatchError(err):
		return found{absent: fmt.Sprintf("the API server does not serve %s in %s", t.gvk.Kind, t.gvk.GroupVersion())}, nil
	case errors.Is(err, errNoNamespace):
		return found{}, err
	case err != nil:
		return found{}, fmt.Errorf("map %s: %w", t.gvk, err)
	}
	var out found
	if t.selector == "" {
		out, err = one(ctx, client, t)
	} else {
		out, err = all(ctx, client, t)
	}
	switch {
	case apierrors.IsNotFound(err):
		return found{absent: t.String() + " is missing"}, nil
	case apierrors.IsForbidden(err):
		return found{absent: t.String() + " cannot be read", denial: apirecord.DenialOf(err, mapping.Resource)}, nil
	case err != nil:
		return found{}, fmt.Errorf("read %s: %w", t, err)
	}
	return out, nil
}

func one(ctx context.Context, client dynamic.ResourceInterface, t target) (found, error) {
	obj, err := client.Get(ctx, t.name, metav1.GetOptions{})
	if err != nil {
		return found{}, err
	}
	return found{objects: []*unstructured.Unstructured{obj}}, nil
}

// all lists what a selector chooses, a page at a time.
func all(ctx context.Context, client dynamic.ResourceInterface, t target) (found, error) {
	var out found
	options := metav1.ListOptions{LabelSelector: t.selector, Limit: pageSize}
	for size := 0; ; {
		list, err := client.List(ctx, options)
		if err != nil {
			return found{}, err
		}
		for i := range list.Items {
			size += sizeOf(&list.Items[i])
			out.objects = append(out.objects, &list.Items[i])
		}
		out.version = list.GetResourceVersion()
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return out, nil
		}
		if len(out.objects) >= maxObjects || size > maxBytes {
			return found{}, fmt.Errorf("the selector chooses more than %d objects or %d MiB", maxObjects, maxBytes>>20)
		}
	}
}

func sizeOf(obj *unstructured.Unstructured) int {
	data, _ := obj.MarshalJSON() // came as JSON
	return len(data)
}
