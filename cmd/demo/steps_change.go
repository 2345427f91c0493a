package main

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// What the first two steps write.
const (
	newMessage  = "Hello again, with a new message"
	handMessage = "edited by hand"
)

// changeSpec changes the message of the Sample; its ConfigMap has to follow.
func (d *demo) changeSpec(ctx context.Context) (step, error) {
	s, config, err := d.sampleWithChild(ctx, "Sample", configMapKind)
	if err != nil {
		return step{}, err
	}
	return step{
		title:   "Change a spec",
		primary: s,
		act: func(ctx context.Context) (string, error) {
			_, err := d.kube.patch(ctx, s.Unstructured, fmt.Sprintf(`{"spec":{"message":%q}}`, newMessage))
			return fmt.Sprintf("spec.message of %s is now %q", s.id(), newMessage), err
		},
		effects: []effect{{
			what: describe(config) + " has the new message",
			check: func(ctx context.Context) error {
				now, err := d.view.get(ctx, config)
				if err != nil {
					return err
				}
				return wantMessage(now, newMessage)
			},
		}},
	}, nil
}

// editChild changes the ConfigMap of the Sample by hand; it has to be put right.
func (d *demo) editChild(ctx context.Context) (step, error) {
	s, config, err := d.sampleWithChild(ctx, "Sample", configMapKind)
	if err != nil {
		return step{}, err
	}
	var edited *unstructured.Unstructured
	return step{
		title:   "Edit by hand what a playbook made",
		primary: s,
		act: func(ctx context.Context) (did string, err error) {
			edited, err = d.kube.patch(ctx, config, fmt.Sprintf(`{"data":{"message":%q}}`, handMessage))
			return fmt.Sprintf("data.message of %s is now %q", describe(config), handMessage), err
		},
		effects: []effect{{
			what: describe(config) + " is as the spec says again",
			check: func(ctx context.Context) error {
				now, err := d.view.get(ctx, config)
				if err != nil {
					return err
				}
				if now != nil && !later(now, edited) {
					return errors.New("it is still as edited")
				}
				return wantMessage(now, newMessage)
			},
		}},
	}, nil
}

// deleteChild deletes the Service of the Microservice; it has to come back.
func (d *demo) deleteChild(ctx context.Context) (step, error) {
	s, service, err := d.sampleWithChild(ctx, "Microservice", serviceKind)
	if err != nil {
		return step{}, err
	}
	return step{
		title:   "Delete what a chart made",
		primary: s,
		act: func(ctx context.Context) (string, error) {
			return fmt.Sprintf("%s of %s is deleted", describe(service), s.id()), d.kube.remove(ctx, service)
		},
		effects: []effect{{
			what: describe(service) + " is back",
			check: func(ctx context.Context) error {
				now, err := d.view.get(ctx, service)
				switch {
				case err != nil:
					return err
				case now == nil:
					return errors.New("it is gone")
				case now.GetUID() == service.GetUID():
					return errors.New("it is still to go")
				}
				return nil
			},
		}},
	}, nil
}

// sampleWithChild returns the sample of a kind and the first object of another kind that it owns, once there is one.
func (d *demo) sampleWithChild(ctx context.Context, kind string, child schema.GroupVersionKind) (sample, *unstructured.Unstructured, error) {
	s, err := d.sample(kind)
	if err != nil {
		return s, nil, err
	}
	obj, err := d.childOf(ctx, s, child)
	return s, obj, err
}

// childOf returns the first object of a kind that a sample owns, once there is one.
func (d *demo) childOf(ctx context.Context, s sample, gvk schema.GroupVersionKind) (child *unstructured.Unstructured, err error) {
	what := fmt.Sprintf("a %s that %s owns", gvk.Kind, s.id())
	err = d.wait(ctx, what, d.opts.timeout, func(ctx context.Context) error {
		return d.view.await(ctx, func() error {
			children, err := d.childrenOf(ctx, s, gvk)
			if err != nil {
				return err
			}
			child = children[0]
			return nil
		})
	})
	return child, err
}

// childrenOf returns the objects of some kinds that a sample owns, at least one.
func (d *demo) childrenOf(ctx context.Context, s sample, kinds ...schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
	owner, err := d.view.get(ctx, s.Unstructured)
	if err != nil {
		return nil, err
	}
	if owner == nil {
		return nil, fmt.Errorf("%s is gone", s.id())
	}
	children, err := d.view.ownedBy(ctx, owner.GetUID(), kinds...)
	if err == nil && len(children) == 0 {
		err = errors.New("no owner reference points to it")
	}
	return children, err
}

// wantMessage returns nil if a ConfigMap holds a message, else what it holds.
func wantMessage(config *unstructured.Unstructured, want string) error {
	if config == nil {
		return errors.New("it is gone")
	}
	if got, _, _ := unstructured.NestedString(config.Object, "data", "message"); got != want {
		return fmt.Errorf("the message is %q", got)
	}
	return nil
}

// later reports whether a is a later state of an object than b: what was seen of it lags behind.
func later(a, b *unstructured.Unstructured) bool {
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order > 0
}
