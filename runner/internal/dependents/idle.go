package dependents

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// This file is the one place that says when a watch is not needed any more.
//
// A primary needs the watch on a kind for as long as there is a child of that kind, and for a while after a run
// has last asked for it: the child that a run made may not be known yet, and runs that delete and make anew should
// not end and begin a watch each time. What nobody needs is dropped; the next run that meets such a child, by
// whatever name, brings it back.

const (
	idleAfter = 10 * time.Minute // how long a watch is kept without a child
	idleCheck = time.Minute      // how often that is looked into
)

// dropIdle ends watches that nobody needs, until ctx is done.
func (r *Registry) dropIdle(ctx context.Context) {
	ticker := r.clock.NewTicker(idleCheck)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			r.sweep()
		}
	}
}

func (r *Registry) sweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, k := range r.watched {
		k.unsubscribeIdle(r.clock.Now())
		if len(k.subscriptions) > 0 {
			continue
		}
		delete(r.watched, name)
		if k.stop != nil {
			k.stop()
		}
		r.log.Info("No longer watching children; there have been none for a while", "child", k.asked.String())
	}
}

// unsubscribeIdle drops the primaries that have had no child of the kind for long. The registry's lock must be held.
func (k *kind) unsubscribeIdle(now time.Time) {
	if k.uncertain() {
		return
	}
	has := k.ownerKinds()
	k.subscriptions = slices.DeleteFunc(k.subscriptions, func(s *subscription) bool {
		// A primary that does not want children of this scope has no watch to drop, but see Complete.
		if has[s.primary.GVK.GroupKind()] || !s.primary.wants(k.clusterScoped) {
			s.needed = now
		}
		return now.Sub(s.needed) >= idleAfter
	})
}

// uncertain reports whether there may be children that are not known: where a watch is denied or broken. Of a kind
// that is not served there are none. The registry's lock must be held.
func (k *kind) uncertain() bool {
	for _, trouble := range k.trouble {
		if trouble.Reason != ReasonNotServed {
			return true
		}
	}
	for _, s := range k.streams {
		if !s.listed && len(k.trouble) == 0 {
			return true
		}
	}
	return false
}

// ownerKinds returns whose children are known. The registry's lock must be held.
func (k *kind) ownerKinds() map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for _, s := range k.streams {
		for _, r := range s.records {
			for _, owner := range r.owners {
				kinds[owner.kind] = true
			}
		}
	}
	return kinds
}
