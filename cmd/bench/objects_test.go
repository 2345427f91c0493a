package main

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// with returns a resource with one condition that is true.
func with(name, condition string) *unstructured.Unstructured {
	obj := resource(fives, name)
	conditions := []any{map[string]any{"type": condition, "status": "True", "message": "as it is"}}
	_ = unstructured.SetNestedSlice(obj.Object, conditions, "status", "conditions")
	return obj
}

// A watch begins with the resources that are there already, which must not be taken for those that are measured.
func TestAwaitSuccessful(t *testing.T) {
	for name, tt := range map[string]struct {
		last *unstructured.Unstructured
		done bool
	}{
		"the measured one":              {with("new", "Successful"), true},
		"another one":                   {with("old", "Successful"), false},
		"another one has failed":        {with("old", "Failure"), false},
		"the measured one is at work":   {with("new", "Running"), false},
		"the measured one has no state": {resource(fives, "new"), false},
	} {
		t.Run(name, func(t *testing.T) {
			changes := watch.NewFakeWithChanSize(2, false)
			changes.Add(with("old", "Successful"))
			changes.Modify(tt.last)
			ctx, cancel := context.WithCancel(t.Context())
			if !tt.done {
				cancel()
				changes.Stop() // so that what is there is seen, whichever of the two is first
			}
			defer cancel()
			if err := awaitSuccessful(ctx, changes, "new"); (err == nil) != tt.done {
				t.Errorf("it ends with %v", err)
			}
		})
	}
	changes := watch.NewFakeWithChanSize(1, false)
	changes.Add(with("new", "Failure"))
	if err := awaitSuccessful(t.Context(), changes, "new"); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a failed run ends it with %v", err)
	}
}
