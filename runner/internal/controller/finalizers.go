package controller

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// held returns which of names are on obj.
func held(obj *unstructured.Unstructured, names []string) []string {
	var on []string
	for _, name := range names {
		if slices.Contains(obj.GetFinalizers(), name) {
			on = append(on, name)
		}
	}
	return on
}

// hold puts the finalizer name on obj and returns its new state, or nil when obj is gone.
func (r *reconciler) hold(ctx context.Context, obj *unstructured.Unstructured, name string) (*unstructured.Unstructured, error) {
	written, err := r.editFinalizers(ctx, obj, func(o *unstructured.Unstructured) { controllerutil.AddFinalizer(o, name) })
	if err != nil {
		return nil, &hindrance{doing: "put on the finalizer", err: fmt.Errorf("put finalizer %s on %s: %w", name, describe(obj), err)}
	}
	return written, nil
}

// release takes our finalizers off obj and returns its new state, or nil when obj is gone.
func (r *reconciler) release(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	written, err := r.editFinalizers(ctx, obj, func(o *unstructured.Unstructured) {
		for _, name := range r.Finalizers {
			controllerutil.RemoveFinalizer(o, name)
		}
	})
	if err != nil {
		return nil, &hindrance{doing: "take off the finalizer", err: fmt.Errorf("take finalizers %v off %s: %w", r.Finalizers, describe(obj), err)}
	}
	return written, nil
}

// editFinalizers patches the finalizers of obj. Other writers' finalizers are safe: the patch replaces the list, so it
// names the version it was made for and is made anew when somebody was faster.
func (r *reconciler) editFinalizers(ctx context.Context, obj *unstructured.Unstructured, edit func(*unstructured.Unstructured)) (*unstructured.Unstructured, error) {
	for attempt := 0; ; attempt++ {
		edited := obj.DeepCopy()
		edit(edited)
		if slices.Equal(edited.GetFinalizers(), obj.GetFinalizers()) {
			return obj, nil
		}
		err := r.Client.Patch(ctx, edited, client.MergeFromWithOptions(obj, client.MergeFromWithOptimisticLock{}))
		switch {
		case err == nil:
			r.reader.wrote(edited)
			return edited, nil
		case apierrors.IsNotFound(err):
			r.reader.forget(keyOf(obj))
			return nil, nil
		case !apierrors.IsConflict(err) || attempt == maxConflicts:
			return nil, err
		}
		live, err := r.live(ctx, keyOf(obj))
		if err != nil || live == nil || live.GetUID() != obj.GetUID() { // gone, or another resource of the same name
			return nil, err
		}
		obj = live
	}
}

// maxConflicts bounds how often a write is tried anew because somebody else was faster.
const maxConflicts = 5
