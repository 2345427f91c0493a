package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
)

var (
	listOptions = metav1.ListOptions{}
	// ours chooses what plays of the bench made.
	ours = metav1.ListOptions{LabelSelector: "bench=true"}
)

func (c cluster) create(ctx context.Context, resource schema.GroupVersionResource, namespace string, obj *unstructured.Unstructured) error {
	if _, err := c.Resource(resource).Namespace(namespace).Create(ctx, obj, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create %s %s: %w", obj.GetKind(), obj.GetName(), err)
	}
	return nil
}

func (c cluster) makeNamespace(ctx context.Context, name string) error {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}
	return c.create(ctx, namespaces, "", obj)
}

// resource returns one of the bench's resources.
func resource(of schema.GroupVersionResource, name string) *unstructured.Unstructured {
	spec := map[string]any{}
	if of == fives {
		spec["size"] = int64(5)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": of.GroupVersion().String(), "kind": kinds[of], "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

// awaitSuccessful returns when the resources with these names have been Successful. One that failed is an error. Changes of
// other resources, which a watch tells of too, do not matter.
func awaitSuccessful(ctx context.Context, changes watch.Interface, names ...string) error {
	awaited := sets.New(names...)
	for awaited.Len() > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for resources to be Successful, %d of %d are: %w", len(names)-awaited.Len(), len(names), ctx.Err())
		case event, open := <-changes.ResultChan():
			obj, ok := event.Object.(*unstructured.Unstructured)
			if !open || !ok {
				return errors.New("the watch on the bench's resources has ended")
			}
			if !awaited.Has(obj.GetName()) {
				continue
			}
			if message, failed := condition(obj, "Failure"); failed {
				return fmt.Errorf("the run of %s %s failed: %s", obj.GetKind(), obj.GetName(), message)
			}
			if _, successful := condition(obj, "Successful"); successful {
				awaited.Delete(obj.GetName())
			}
		}
	}
	return nil
}

// condition reports whether a condition is true, and what it says.
func condition(obj *unstructured.Unstructured, kind string) (message string, is bool) {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		fields, _ := c.(map[string]any)
		if fields["type"] == kind {
			message, _ = fields["message"].(string)
			return message, fields["status"] == "True"
		}
	}
	return "", false
}

// clear removes the bench's resources in a namespace and what their plays made, and waits until all is gone.
func (c cluster) clear(ctx context.Context, namespace string) error {
	for _, of := range []schema.GroupVersionResource{fives, readings, configMaps} {
		options := listOptions
		if of == configMaps {
			options = ours
		}
		there := c.Resource(of).Namespace(namespace)
		if err := there.DeleteCollection(ctx, metav1.DeleteOptions{}, options); err != nil {
			return fmt.Errorf("remove the %s in %s: %w", of.Resource, namespace, err)
		}
		for {
			left, err := there.List(ctx, options)
			if err != nil {
				return fmt.Errorf("look for %s in %s: %w", of.Resource, namespace, err)
			}
			if len(left.Items) == 0 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}
