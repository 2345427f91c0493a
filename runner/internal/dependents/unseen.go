package dependents

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// A watch begins with the first child that a run makes, and in a big cluster the list that it begins with takes a while.
// Who deletes the child in this while leaves no trace in the list. So what runs write before a kind is known is
// remembered, and what of it the list does not show has been deleted.

// maxUnseen bounds the memory for one kind. Who deletes a child beyond it in the while is found out by period.
const maxUnseen = 10_000

// unseen is what a run wrote before the objects of its kind were known.
type unseen struct {
	child   engine.Child
	owner   ownerKey
	version string // resourceVersion of the write
}

// noteUnseen remembers writes of a run of owner. The registry's lock must be held.
func (r *Registry) noteUnseen(owner ownerKey, writes []engine.Write) {
	for _, write := range writes {
		k := r.watched[write.GVK.GroupKind()]
		if k == nil || write.Deleted || write.UID == "" || len(k.unseen) == maxUnseen || !k.expects(owner, write.Namespace) {
			continue
		}
		if k.unseen == nil {
			k.unseen = map[types.UID]unseen{}
		}
		child := engine.Child{GVK: write.GVK, Namespace: write.Namespace, Name: write.Name}
		k.unseen[write.UID] = unseen{child: child, owner: owner, version: write.ResourceVersion}
	}
}

// expects reports whether objects of a namespace will be known, but are not yet. The registry's lock must be held.
func (k *kind) expects(owner ownerKey, namespace string) bool {
	watched := namespace == "" || len(k.registry.namespaces) == 0 || slices.Contains(k.registry.namespaces, namespace)
	if !watched || !slices.ContainsFunc(k.subscriptions, func(s *subscription) bool { return s.primary.GVK.GroupKind() == owner.kind }) {
		return false
	}
	for _, at := range []string{"", namespace} {
		if s := k.streams[at]; s != nil && s.listed {
			return false
		}
	}
	return true
}

// missed returns the deletions that happened before the first list, which is of a version. What was written later than that
// is not in the list and not gone: events will bring it. The registry's lock must be held.
func (s *stream) missed(fresh []*record, version string) []change {
	if s.kind == nil || len(s.kind.unseen) == 0 {
		return nil
	}
	present := make(map[types.UID]bool, len(fresh))
	for _, r := range fresh {
		present[r.uid] = true
	}
	var changes []change
	for uid, u := range s.kind.unseen {
		if s.namespace != "" && s.namespace != u.child.Namespace {
			continue
		}
		delete(s.kind.unseen, uid)
		later, err := resourceversion.CompareResourceVersion(u.version, version)
		if !present[uid] && (err != nil || later <= 0) {
			changes = append(changes, change{child: u.child, uid: uid, why: Deleted, owners: []ownerKey{u.owner}})
		}
	}
	return changes
}
