package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds of children that the steps look at.
var (
	configMapKind   = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	serviceKind     = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	secretKind      = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	statefulSetKind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
)

// watchNamespace begins to watch the samples, which fills the table, and the kinds of children that matter here.
func (d *demo) watchNamespace(ctx context.Context) error {
	var err error
	if d.samples, err = readSamples(d.opts.samples, d.opts.namespace); err != nil {
		return err
	}
	if d.view, err = newView(d.kube); err != nil {
		return err
	}
	d.runs.onChange(func(id string) {
		d.redraw(ctx, id)
		d.view.notify()
	})
	d.store.onChange(d.view.notify)
	for gvk, seen := range d.watched(ctx) {
		if err := d.view.watch(ctx, gvk, seen); err != nil {
			return err
		}
	}
	go func() { _ = d.view.cache.Start(ctx) }() // returns an error only if started twice
	return d.wait(ctx, "the watches to be in step with the cluster", d.opts.timeout, func(ctx context.Context) error {
		if !d.view.cache.WaitForCacheSync(ctx) {
			return fmt.Errorf("watch namespace %s: %w", d.opts.namespace, context.Cause(ctx))
		}
		return nil
	})
}

// watched returns the kinds to watch and what to do with what is seen of them.
func (d *demo) watched(ctx context.Context) map[schema.GroupVersionKind]func(*unstructured.Unstructured) {
	kinds := map[schema.GroupVersionKind]func(*unstructured.Unstructured){
		configMapKind: nil, serviceKind: nil, secretKind: nil, statefulSetKind: nil,
	}
	for _, s := range d.samples {
		kinds[s.GroupVersionKind()] = func(obj *unstructured.Unstructured) {
			d.redraw(ctx, sampleID(obj.GetKind(), obj.GetName()))
		}
	}
	return kinds
}

// redraw brings a sample's row up to date; other resources have none. One at a time: the last one to look has to be
// the last one to draw.
func (d *demo) redraw(ctx context.Context, id string) {
	d.drawing.Lock()
	defer d.drawing.Unlock()
	for _, s := range d.samples {
		if s.id() != id {
			continue
		}
		// Only a watch that is still starting or ending has no answer, and then there is nothing to draw.
		if obj, err := d.view.get(ctx, s.Unstructured); err == nil {
			last := d.runs.last(id)
			d.screen.Set(verdictOf(obj, last).row(s, last))
		}
	}
}
