package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// crdLimit is how long CRDs may take to go.
const crdLimit = 30 * time.Second

// installCRDs installs those CRDs that are missing and waits until all are served. Those that are there stay as they
// are: others may use them.
func (d *demo) installCRDs(ctx context.Context) error {
	crds, err := readManifests(d.opts.crds)
	if err != nil {
		return err
	}
	if !d.cluster.local() {
		d.undo.add("Removing CRDs that the demo installed", crdLimit, func(ctx context.Context) error {
			return d.removeCRDs(ctx, crds)
		})
	}
	created := 0
	for _, crd := range crds {
		made, err := d.installCRD(ctx, crd)
		if err != nil {
			return err
		}
		if made {
			created++
		}
	}
	err = d.wait(ctx, "the CRDs to be served", d.opts.timeout, func(ctx context.Context) error {
		return d.awaitCRDs(ctx, crds)
	})
	if err != nil {
		return err
	}
	d.sayf("%d CRDs are served, %d of them installed just now", len(crds), created)
	return nil
}

func (d *demo) installCRD(ctx context.Context, crd *unstructured.Unstructured) (created bool, err error) {
	found, err := d.kube.find(ctx, crd)
	if found != nil || err != nil {
		return false, err
	}
	crd = crd.DeepCopy()
	markOurs(crd)
	if err := d.kube.Create(ctx, crd, fieldOwner); err != nil {
		return false, fmt.Errorf("install CRD %s: %w", crd.GetName(), err)
	}
	return true, nil
}

func (d *demo) awaitCRDs(ctx context.Context, crds []*unstructured.Unstructured) error {
	for _, crd := range crds {
		if err := d.kube.until(ctx, crd, established); err != nil {
			return err
		}
		for _, gvk := range servedKinds(crd) {
			if err := d.kube.awaitServed(ctx, gvk); err != nil {
				return err
			}
		}
	}
	return nil
}

// discoveryInterval is how often discovery is asked for a kind. It follows an established CRD within milliseconds,
// and has no stream to wait on.
const discoveryInterval = 50 * time.Millisecond

// awaitServed returns when discovery knows a kind.
func (k *kube) awaitServed(ctx context.Context, gvk schema.GroupVersionKind) error {
	for {
		_, err := k.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(discoveryInterval):
		}
	}
}

// established is a condition for until.
func established(crd *unstructured.Unstructured) bool {
	if crd == nil {
		return false
	}
	return conditionOf(crd.Object["status"], "Established").status == "True"
}

// servedKinds returns the kind of a CRD in each version that is served.
func servedKinds(crd *unstructured.Unstructured) []schema.GroupVersionKind {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var kinds []schema.GroupVersionKind
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if served, _ := version["served"].(bool); served {
			kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: name, Kind: kind})
		}
	}
	return kinds
}

// removeCRDs removes CRDs that a demo installed, but none that still has resources: with it they would go.
func (d *demo) removeCRDs(ctx context.Context, crds []*unstructured.Unstructured) error {
	for _, crd := range crds {
		if err := d.removeCRD(ctx, crd); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) removeCRD(ctx context.Context, crd *unstructured.Unstructured) error {
	found, err := d.kube.find(ctx, crd)
	if err != nil || found == nil || !ours(found) {
		return err
	}
	for _, gvk := range servedKinds(found) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		if err := d.kube.List(ctx, list); err != nil {
			return fmt.Errorf("look for resources of %s: %w", crd.GetName(), err)
		}
		if len(list.Items) > 0 {
			d.sayf("CRD %s stays: it has %d resources, like %s in namespace %s", crd.GetName(),
				len(list.Items), list.Items[0].GetName(), list.Items[0].GetNamespace())
			return nil
		}
	}
	if err := d.kube.remove(ctx, found); err != nil {
		return err
	}
	return d.kube.until(ctx, found, gone)
}
