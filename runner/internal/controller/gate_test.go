package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// listerFunc is a function that lists kinds.
type listerFunc func(groupVersion string) (*metav1.APIResourceList, error)

func (f listerFunc) ServerResourcesForGroupVersionWithContext(_ context.Context, gv string) (*metav1.APIResourceList, error) {
	return f(gv)
}

func TestGateWaitsAndTellsOnceWhy(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(gvk, meta.RESTScopeNamespace)
	answers := []func() (*metav1.APIResourceList, error){
		func() (*metav1.APIResourceList, error) { return nil, apierrors.NewNotFound(schema.GroupResource{}, "") },
		func() (*metav1.APIResourceList, error) { return nil, apierrors.NewNotFound(schema.GroupResource{}, "") },
		func() (*metav1.APIResourceList, error) { return nil, errors.New("connection refused") },
		func() (*metav1.APIResourceList, error) { return &metav1.APIResourceList{}, nil },
		func() (*metav1.APIResourceList, error) {
			return &metav1.APIResourceList{APIResources: []metav1.APIResource{
				{Name: "things", Kind: "Thing", Namespaced: true}, {Name: "things/status", Kind: "Thing", Namespaced: true},
			}}, nil
		},
	}
	ticks := make(chan time.Time, len(answers))
	for range answers {
		ticks <- time.Time{}
	}
	asked := 0
	gate := Gate{
		Mapper: mapper,
		Tick:   func(time.Duration) <-chan time.Time { return ticks },
		Discovery: listerFunc(func(string) (*metav1.APIResourceList, error) {
			asked++
			return answers[asked-1]()
		}),
	}
	var told []string
	served, err := gate.Wait(t.Context(), gvk, func(reason string, missing bool) {
		told = append(told, reason)
		if missing != strings.Contains(reason, "install its CRD") {
			t.Errorf("missing is %v with %q: an API server that does not answer has said nothing", missing, reason)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !served.Namespaced || !served.HasStatus {
		t.Errorf("the kind is %+v, want namespaced and with status", served)
	}
	if len(told) != 3 || !strings.Contains(told[0], "install its CRD") || !strings.Contains(told[1], "connection refused") {
		t.Errorf("told %q, want each new reason once", told)
	}
}

func TestGateEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	gate := Gate{
		Mapper: meta.NewDefaultRESTMapper(nil),
		Tick:   func(time.Duration) <-chan time.Time { cancel(); return nil },
		Discovery: listerFunc(func(string) (*metav1.APIResourceList, error) {
			return nil, apierrors.NewNotFound(schema.GroupResource{}, "")
		}),
	}
	_, err := gate.Wait(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Thing"}, func(string, bool) {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}
