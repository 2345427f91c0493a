package dependents

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Annotations that name the owner of a child where an owner reference would be illegal: in another namespace, or
// cluster-scoped with an owner that is not.
const (
	ownerAnnotation     = "operator-sdk/primary-resource"      // "namespace/name", or "name" alone
	ownerTypeAnnotation = "operator-sdk/primary-resource-type" // "Kind.group", "Kind" for the core group
)

// Why is what happened to a child.
type Why string

// The reasons to wake an owner.
const (
	Edited  Why = "edited"  // something that was applied to the child is different now
	Deleted Why = "deleted" // the child is gone
)

// Primary is a kind of resource whose children are watched.
type Primary struct {
	GVK schema.GroupVersionKind
	// ClusterScoped says that resources of the kind live in no namespace.
	ClusterScoped bool
	// BuiltIn says that the kind comes with Kubernetes, whose controllers make children of its resources, too.
	BuiltIn bool
	// WatchClusterScoped extends the watch to cluster-scoped children of a namespaced kind.
	WatchClusterScoped bool
	// Blacklist are kinds of children that are not watched.
	Blacklist []schema.GroupVersionKind
	// FollowStatus says of which kinds of children the status counts, too. Nil for none.
	FollowStatus func(child schema.GroupKind) bool
	// Wake is told that a child of the named resource changed. It must not block.
	Wake func(owner types.NamespacedName, child engine.Child, why Why)
}

// admits reports whether children of this kind are watched at all. The scope is known later; see wants.
func (p *Primary) admits(child schema.GroupVersionKind) bool {
	return !slices.Contains(p.Blacklist, child)
}

// wants reports whether children of this scope are watched.
func (p *Primary) wants(childIsClusterScoped bool) bool {
	return !childIsClusterScoped || p.ClusterScoped || p.WatchClusterScoped
}

// ownerKey identifies a primary resource. The version is left out: an owner reference may name an older one.
type ownerKey struct {
	kind schema.GroupKind
	name types.NamespacedName
}

// keyOf returns the key of a run's owner.
func keyOf(owner engine.Owner) ownerKey {
	return ownerKey{
		kind: schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind(),
		name: types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name},
	}
}

// ownership is how a child names its owners among some primaries.
type ownership struct {
	owners    []ownerKey
	uids      []types.UID // of the owners that are named by reference
	annotated bool        // an owner is named by annotation
}

// ownershipOf looks for owners of the given kinds.
func ownershipOf(child metav1.Object, primaries []*Primary) ownership {
	var o ownership
	references, annotations := child.GetOwnerReferences(), child.GetAnnotations()
	for _, primary := range primaries {
		o.addReferences(child.GetNamespace(), references, primary)
		o.addAnnotation(annotations, primary)
	}
	return o
}

func (o *ownership) addReferences(namespace string, references []metav1.OwnerReference, primary *Primary) {
	if primary.ClusterScoped {
		namespace = ""
	}
	for _, ref := range references {
		kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		if kind == primary.GVK.GroupKind() {
			o.add(ownerKey{kind: kind, name: types.NamespacedName{Namespace: namespace, Name: ref.Name}})
			o.uids = append(o.uids, ref.UID)
		}
	}
}

func (o *ownership) addAnnotation(annotations map[string]string, primary *Primary) {
	kind := primary.GVK.GroupKind()
	if annotations[ownerTypeAnnotation] != kind.String() {
		return
	}
	if name, ok := parseOwner(annotations[ownerAnnotation]); ok {
		o.add(ownerKey{kind: kind, name: name})
		o.annotated = true
	}
}

func (o *ownership) add(key ownerKey) {
	if !slices.Contains(o.owners, key) {
		o.owners = append(o.owners, key)
	}
}

// parseOwner reads the value of ownerAnnotation.
func parseOwner(value string) (types.NamespacedName, bool) {
	namespace, name, found := strings.Cut(value, "/")
	if !found {
		namespace, name = "", value
	}
	if name == "" || strings.Contains(name, "/") {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, true
}
