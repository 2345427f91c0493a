package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// namespaceLimit is how long a namespace may take to go.
const namespaceLimit = time.Minute

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// makeNamespace creates the namespace of the samples unless it exists. One that the demo did not make stays at the
// end.
func (d *demo) makeNamespace(ctx context.Context) error {
	ns := named(namespaceKind, "", d.opts.namespace)
	// One that an earlier demo is still removing has to go first.
	err := d.wait(ctx, "namespace "+d.opts.namespace+" of an earlier demo to go", d.opts.timeout, func(ctx context.Context) error {
		return d.kube.until(ctx, ns, notTerminating)
	})
	if err != nil {
		return err
	}
	found, err := d.kube.find(ctx, ns)
	if err != nil {
		return err
	}
	if found == nil {
		markOurs(ns)
		if err := d.kube.Create(ctx, ns, fieldOwner); err != nil {
			return fmt.Errorf("create namespace %s: %w", d.opts.namespace, err)
		}
	}
	if !d.cluster.local() {
		d.undo.add("Removing namespace "+d.opts.namespace+" if the demo made it", namespaceLimit, d.removeNamespace)
	}
	return nil
}

func (d *demo) removeNamespace(ctx context.Context) error {
	found, err := d.kube.find(ctx, named(namespaceKind, "", d.opts.namespace))
	if err != nil || found == nil || !ours(found) {
		return err
	}
	// In a namespace that is being removed nothing new can be made, and so nothing could be put right any more.
	if left, err := d.leftovers(ctx); err != nil || len(left) > 0 {
		d.sayf("Namespace %s stays; the next demo removes what is left, or do it by hand", d.opts.namespace)
		return err
	}
	if err := d.kube.remove(ctx, found); err != nil {
		return err
	}
	return d.kube.until(ctx, found, gone)
}

// notTerminating is a condition for until.
func notTerminating(obj *unstructured.Unstructured) bool {
	return obj == nil || obj.GetDeletionTimestamp() == nil
}
