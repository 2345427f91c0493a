package dependents

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

// listable is a kind of objects that can be listed and watched.
type listable struct {
	gvk        schema.GroupVersionKind
	resource   schema.GroupVersionResource
	namespaced bool
}

// kinds returns the kinds that may hold children, each in the version that the API server prefers. It tries until the
// API server answers; a group that it knows nothing of, like one of a broken aggregated API, is left out.
func (f *finder) kinds(ctx context.Context, delay wait.DelayFunc) []listable {
	for {
		lists, err := f.discovery.ServerPreferredResourcesWithContext(ctx)
		if err == nil || len(lists) > 0 {
			return listables(lists)
		}
		f.registry.log.V(1).Info("Cannot look for children", "cause", err.Error())
		if !f.sleep(ctx, delay()) {
			return nil
		}
	}
}

func listables(lists []*metav1.APIResourceList) []listable {
	var kinds []listable
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.APIResources {
			if mayBeChild(r) {
				kinds = append(kinds, listable{version.WithKind(r.Kind), version.WithResource(r.Name), r.Namespaced})
			}
		}
	}
	return kinds
}

// mayBeChild leaves out what is not stored, what cannot be watched, and events: there are many, they go by
// themselves, and nobody repairs them.
func mayBeChild(r metav1.APIResource) bool {
	return !strings.Contains(r.Name, "/") && r.Kind != "Event" &&
		slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch")
}
