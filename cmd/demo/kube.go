package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The label that marks what a demo made, this one or an earlier one that was killed. Only such objects are removed.
const (
	ownLabel = "app.kubernetes.io/managed-by"
	ownValue = "chartbook-demo"
)

// fieldOwner is the name under which the demo writes.
const fieldOwner = client.FieldOwner("chartbook-demo")

// kube reaches the API server.
type kube struct {
	client.WithWatch
	config    *rest.Config
	namespace string // of the samples
}

func newKube(config *rest.Config, namespace string) (*kube, error) {
	c, err := client.NewWithWatch(config, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", config.Host, err)
	}
	return &kube{WithWatch: c, config: config, namespace: namespace}, nil
}

// until returns when ok does true for the named object; ok gets nil while there is none.
func (k *kube) until(ctx context.Context, named *unstructured.Unstructured, ok func(*unstructured.Unstructured) bool) error {
	for {
		done, err := k.followOnce(ctx, named, ok)
		if done || err != nil {
			return err
		}
	}
}

// followOnce follows an object until ok does true or the API server ends the stream, as it does now and then.
func (k *kube) followOnce(ctx context.Context, named *unstructured.Unstructured, ok func(*unstructured.Unstructured) bool) (done bool, err error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(named.GroupVersionKind())
	stream, err := k.Watch(ctx, list, client.InNamespace(named.GetNamespace()),
		client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", named.GetName())})
	if err != nil {
		return false, fmt.Errorf("watch %s: %w", describe(named), err)
	}
	defer stream.Stop()
	// A stream begins with the object as it is, or with nothing if there is none.
	now, err := k.find(ctx, named)
	if err != nil || ok(now) {
		return err == nil, err
	}
	for {
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case event, open := <-stream.ResultChan():
			obj, isObject := event.Object.(*unstructured.Unstructured)
			switch {
			case !open || !isObject:
				return false, nil
			case event.Type == watch.Deleted:
				obj = nil
			}
			if ok(obj) {
				return true, nil
			}
		}
	}
}

// find returns the named object, or nil if there is none.
func (k *kube) find(ctx context.Context, named *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(named.GroupVersionKind())
	err := k.Get(ctx, client.ObjectKeyFromObject(named), obj)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", describe(named), err)
	}
	return obj, nil
}

// patch changes fields of an object as a JSON merge patch does.
func (k *kube) patch(ctx context.Context, obj *unstructured.Unstructured, patch string) (*unstructured.Unstructured, error) {
	obj = obj.DeepCopy()
	if err := k.Patch(ctx, obj, client.RawPatch("application/merge-patch+json", []byte(patch)), fieldOwner); err != nil {
		return nil, fmt.Errorf("change %s: %w", describe(obj), err)
	}
	return obj, nil
}

// remove deletes an object; one that is gone already is no error.
func (k *kube) remove(ctx context.Context, obj *unstructured.Unstructured) error {
	err := k.Delete(ctx, obj, client.PropagationPolicy("Background"))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s: %w", describe(obj), err)
	}
	return nil
}

// gone is a condition for until.
func gone(obj *unstructured.Unstructured) bool { return obj == nil }

// ours reports whether a demo made an object.
func ours(obj *unstructured.Unstructured) bool { return obj.GetLabels()[ownLabel] == ownValue }

// markOurs says that a demo made an object.
func markOurs(obj *unstructured.Unstructured) {
	labels := obj.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[ownLabel] = ownValue
	obj.SetLabels(labels)
}

// describe names an object for people.
func describe(obj *unstructured.Unstructured) string { return obj.GetKind() + "/" + obj.GetName() }

// named returns an object that is no more than a name.
func named(gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}
