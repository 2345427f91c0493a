package dependents

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// record is what is kept of a child.
type record struct {
	name        types.NamespacedName
	uid         types.UID
	version     string // resourceVersion
	terminating bool
	owners      []ownerKey // empty for what belongs to nobody here; then nothing below is known
	applied     applied
	followers   []ownerKey // those of the owners that follow the status
	status      digest     // known if there are followers
}

// newRecord reduces an object to what is kept of it.
func newRecord(obj *unstructured.Unstructured, primaries []*Primary) *record {
	own := ownershipOf(obj, primaries)
	r := &record{
		name:        types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()},
		uid:         obj.GetUID(),
		version:     obj.GetResourceVersion(),
		terminating: obj.GetDeletionTimestamp() != nil,
		owners:      own.owners,
	}
	if len(own.owners) > 0 {
		r.applied = appliedTo(obj, own)
		r.followers, r.status = followed(obj, own.owners, primaries)
	}
	return r
}

func (r *record) child(gvk schema.GroupVersionKind) engine.Child {
	return engine.Child{GVK: gvk, Namespace: r.name.Namespace, Name: r.name.Name}
}

// GetObjectKind and DeepCopyObject make a record pass for an object, so that a list of records passes for a list.

// GetObjectKind implements runtime.Object.
func (r *record) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object.
func (r *record) DeepCopyObject() runtime.Object {
	out := *r
	out.owners = slices.Clone(r.owners)
	return &out
}

// change is something that happened to a child and that its owners want to know, unless they did it themselves.
type change struct {
	child   engine.Child
	uid     types.UID
	version string
	why     Why
	owners  []ownerKey
	listed  bool // a list showed the child for the first time
}
