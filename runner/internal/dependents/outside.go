package dependents

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// maxOutside bounds the memory of children outside of the watched namespaces. Those of further namespaces are still
// made, but nobody is told that they are not watched.
const maxOutside = 1000

// place is where a primary kind has children of a kind.
type place struct {
	primary   schema.GroupVersionKind
	child     schema.GroupKind
	namespace string
}

// noteOutside takes note of a child in a namespace that is not watched, and logs it if that is news. It stays noted:
// which namespaces are watched does not change.
func (r *Registry) noteOutside(primary schema.GroupVersionKind, child engine.Child) {
	if child.Namespace == "" || len(r.namespaces) == 0 || slices.Contains(r.namespaces, child.Namespace) {
		return
	}
	at := place{primary: primary, child: child.GVK.GroupKind(), namespace: child.Namespace}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.primaries[primary]
	if _, noted := r.outside[at]; noted || p == nil || !p.admits(child.GVK) || len(r.outside) == maxOutside {
		return
	}
	r.outside[at] = Unwatched{
		Child: child.GVK, Namespace: child.Namespace, Reason: ReasonOutside, Since: r.clock.Now(),
		Message: "namespace " + child.Namespace + " is none of those that the operator watches",
	}
	r.log.Info("A run made children in a namespace that is not watched; their changes are noticed at the next periodic run only",
		"child", child.GVK.String(), "namespace", child.Namespace, "primary", primary.String())
}

// Complete reports whether every child that runs of a primary kind made is watched, as far as is known. Besides what
// [Registry.Unwatched] tells, cluster-scoped children that were not asked for are not.
func (r *Registry) Complete(primary schema.GroupVersionKind) bool {
	if len(r.Unwatched(primary)) > 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.primaries[primary]
	for _, k := range r.watched {
		if p != nil && k.subscriptionOf(p) != nil && !p.wants(k.clusterScoped) {
			return false
		}
	}
	return true
}
