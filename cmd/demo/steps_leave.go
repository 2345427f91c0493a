package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// webLabel is what the watch of Deployments selects by.
const webLabel = "app-type"

// deleteResource deletes the PostgresCluster; first its finalizer has to remove the bucket, then it goes, and the
// garbage collector takes its children.
func (d *demo) deleteResource(ctx context.Context) (step, error) {
	s, err := d.sample("PostgresCluster")
	if err != nil {
		return step{}, err
	}
	children, err := d.childrenOf(ctx, s, statefulSetKind, serviceKind, secretKind)
	if err != nil {
		return step{}, fmt.Errorf("look for children of %s: %w", s.id(), err)
	}
	bucket, _, _ := unstructured.NestedString(s.Object, "spec", "backup", "bucket")
	path := storePath + "/buckets/" + bucket
	if _, there := d.store.digest(path); !there {
		return step{}, fmt.Errorf("the run of %s should have made bucket %q at the external store", s.id(), bucket)
	}
	return step{
		title:   "Delete a resource that has a finalizer",
		primary: s,
		act: func(ctx context.Context) (string, error) {
			return s.id() + " is deleted", d.kube.remove(ctx, s.Unstructured)
		},
		effects: []effect{
			{"bucket " + bucket + " is removed from the external store", func(context.Context) error { return d.bucketGone(path) }},
			{s.id() + " is gone", func(ctx context.Context) error { return d.noneLeft(ctx, s.Unstructured) }},
			{fmt.Sprintf("its %d children are gone", len(children)), func(ctx context.Context) error { return d.noneLeft(ctx, children...) }},
		},
	}, nil
}

func (d *demo) bucketGone(path string) error {
	if _, there := d.store.digest(path); there {
		return errors.New("it is still there")
	}
	if _, asked := d.store.seen(http.MethodDelete, path); !asked {
		return errors.New("nobody asked to remove it")
	}
	return nil
}

// noneLeft returns nil if none of the objects is there any more. An object of the same name is another one.
func (d *demo) noneLeft(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, obj := range objects {
		now, err := d.view.get(ctx, obj)
		if err != nil {
			return err
		}
		if now != nil && (obj.GetUID() == "" || now.GetUID() == obj.GetUID()) {
			return fmt.Errorf("%s is still there, finalizers %v", describe(obj), now.GetFinalizers())
		}
	}
	return nil
}

// leaveSelector takes away the label that the Deployment was chosen by; its Service has to go, and nothing else.
func (d *demo) leaveSelector(ctx context.Context) (step, error) {
	s, service, err := d.sampleWithChild(ctx, "Deployment", serviceKind)
	if err != nil {
		return step{}, err
	}
	return step{
		title:   "Take away the label that a Deployment was chosen by",
		primary: s,
		act: func(ctx context.Context) (string, error) {
			_, err := d.kube.patch(ctx, s.Unstructured, fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, webLabel))
			return fmt.Sprintf("%s has no label %s any more", s.id(), webLabel), err
		},
		effects: []effect{
			{describe(service) + " is gone", func(ctx context.Context) error { return d.noneLeft(ctx, service) }},
			{s.id() + " is left alone, without a finalizer", func(ctx context.Context) error { return d.freed(ctx, s) }},
		},
	}, nil
}

// freed returns nil if a sample is there and nothing holds it.
func (d *demo) freed(ctx context.Context, s sample) error {
	now, err := d.view.get(ctx, s.Unstructured)
	switch {
	case err != nil:
		return err
	case now == nil || now.GetDeletionTimestamp() != nil:
		return errors.New("it is gone or about to go")
	case len(now.GetFinalizers()) > 0:
		return fmt.Errorf("its finalizers are %v", now.GetFinalizers())
	}
	return nil
}
