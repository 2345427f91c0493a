package dependents

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Reasons why a kind of child cannot be watched.
const (
	ReasonForbidden = "Forbidden" // the operator lacks a right; Denial says which
	ReasonNotServed = "NotServed" // the API server does not know the kind
	ReasonFailed    = "Failed"    // something else, likely to pass
	ReasonOutside   = "Outside"   // the child is in a namespace that the operator does not watch
)

// Unwatched is a kind of child that cannot be watched at the moment, so that its owners have to be looked after
// in another way. It is tried again by itself.
type Unwatched struct {
	Child     schema.GroupVersionKind
	Namespace string // empty for all
	Reason    string
	Message   string
	Denial    *engine.Denial // the missing right; nil unless Reason is ReasonForbidden
	Since     time.Time
}

// String says it in one stable sentence.
func (u Unwatched) String() string {
	where := "in the whole cluster"
	if u.Namespace != "" {
		where = "in namespace " + u.Namespace
	}
	why := u.Message
	if d := u.Denial; d != nil {
		why = fmt.Sprintf("the operator may not %s %s", d.Verb, schema.GroupResource{Group: d.Group, Resource: d.Resource})
	}
	return fmt.Sprintf("Changes of %s %s are noticed at the next periodic run only: %s", u.Child.GroupKind(), where, why)
}

// Unwatched returns the kinds of children of a primary kind that cannot be watched, in a stable order.
func (r *Registry) Unwatched(primary schema.GroupVersionKind) []Unwatched {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.primaries[primary]
	var out []Unwatched
	for _, k := range r.watched {
		if p == nil || k.subscriptionOf(p) == nil || !p.wants(k.clusterScoped) {
			continue
		}
		for _, trouble := range k.trouble {
			out = append(out, trouble)
		}
	}
	for at, outside := range r.outside {
		if at.primary == primary {
			out = append(out, outside)
		}
	}
	slices.SortFunc(out, func(a, b Unwatched) int {
		return cmp.Or(cmp.Compare(a.Child.String(), b.Child.String()), cmp.Compare(a.Namespace, b.Namespace))
	})
	return out
}

// works notes that a watch was granted.
func (k *kind) works(namespace string) {
	k.registry.mu.Lock()
	defer k.registry.mu.Unlock()
	for _, at := range []string{"", namespace} { // empty: also what is noted of the kind as a whole
		if _, troubled := k.trouble[at]; troubled {
			delete(k.trouble, at)
			k.registry.log.Info("Watching children again", "child", k.asked.String(), "namespace", namespace)
		}
	}
}

// fails notes why a watch cannot be had, and logs it if that is news.
func (k *kind) fails(namespace string, trouble Unwatched) {
	k.registry.mu.Lock()
	defer k.registry.mu.Unlock()
	trouble.Namespace, trouble.Since = namespace, k.registry.clock.Now()
	before, troubled := k.trouble[namespace]
	if troubled && before.Reason == trouble.Reason {
		trouble.Since = before.Since
	} else {
		k.registry.log.Info("Cannot watch children; their changes are noticed at the next periodic run only",
			"child", k.asked.String(), "namespace", namespace, "reason", trouble.Reason, "message", trouble.Message)
	}
	k.trouble[namespace] = trouble
}

// troubleOf says what an error means. The resource is empty if it is not known.
func (k *kind) troubleOf(err error, resource schema.GroupVersionResource) Unwatched {
	trouble := Unwatched{Child: k.asked, Reason: ReasonFailed, Message: err.Error()}
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		trouble.Reason = ReasonNotServed
	case apierrors.IsForbidden(err):
		trouble.Reason = ReasonForbidden
		trouble.Denial = apirecord.DenialOf(err, resource)
	}
	return trouble
}
