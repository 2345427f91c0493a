package dependents

import (
	"crypto/sha256"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// This file is about primaries that follow the status of their children (Primary.FollowStatus).
//
// They are woken when the status of a child changes, and when somebody else creates a child. A child that a list shows
// for the first time is news in one case only: a run has just written it, and it is not any more as the run left it. It may
// have become ready before the watch of its kind began, and there would be no other news of that.

// Further reasons to wake an owner that follows the status of its children.
const (
	StatusChanged Why = "status"  // the status is different now
	Appeared      Why = "created" // the child is new, and the owner's runs did not make it, or not as it is now
)

// follows reports whether status of children of a kind counts.
func (p *Primary) follows(child schema.GroupKind) bool {
	return p.FollowStatus != nil && p.FollowStatus(child)
}

// followed returns which owners of a child follow its status, and what the status is; nothing if there are none.
func followed(child *unstructured.Unstructured, owners []ownerKey, primaries []*Primary) (followers []ownerKey, status digest) {
	kind := child.GroupVersionKind().GroupKind()
	for _, owner := range owners {
		if slices.ContainsFunc(primaries, func(p *Primary) bool { return p.GVK.GroupKind() == owner.kind && p.follows(kind) }) {
			followers = append(followers, owner)
		}
	}
	if len(followers) > 0 {
		status = sha256.Sum256(textOf(withoutHeartbeats(child.Object["status"])))
	}
	return followers, status
}

// heartbeats are what controllers write into conditions again and again to show that they are alive.
var heartbeats = []string{"lastHeartbeatTime", "lastProbeTime", "lastUpdateTime"}

func withoutHeartbeats(status any) any {
	all := treeOf(status)
	conditions, ok := all["conditions"].([]any)
	if !ok {
		return status
	}
	kept := make([]any, len(conditions))
	for i, condition := range conditions {
		kept[i] = condition
		if fields := maps.Clone(treeOf(condition)); fields != nil {
			for _, key := range heartbeats {
				delete(fields, key)
			}
			kept[i] = fields
		}
	}
	all = maps.Clone(all)
	all["conditions"] = kept
	return all
}

// statusChange is the news of a child whose status is another than before.
func (s *stream) statusChange(before, now *record) []change {
	if before.status == now.status || len(before.followers) == 0 {
		return nil
	}
	return s.change(now, StatusChanged, now.followers)
}

// appeared is the news of a child that was not known before. listed says that a list has it, and no event.
func (s *stream) appeared(now *record, listed bool) []change {
	changes := s.change(now, Appeared, now.followers)
	for i := range changes {
		changes[i].listed = listed
	}
	return changes
}

// anyVersion stands for the fact that a run wrote an object at all.
const anyVersion = "any"
