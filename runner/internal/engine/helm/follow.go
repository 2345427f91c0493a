package helm

import (
	"k8s.io/apimachinery/pkg/types"
)

// begin notes that a run is at work on a release, and returns what to call when it has ended.
func (r *Records) begin(key types.NamespacedName) (end func()) {
	if r == nil {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known[key]
	if known == nil {
		known = &knownRelease{}
		r.known[key] = known
	}
	if known.running++; known.running == 1 {
		known.newest = 0
	}
	return func() {
		if wake := r.end(key, known); wake != nil {
			wake("another revision of the release was made meanwhile")
		}
	}
}

// end notes that a run has ended, and returns whom to wake if somebody else has made a revision during it.
func (r *Records) end(key types.NamespacedName, known *knownRelease) func(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known.running--
	switch {
	case known.running > 0:
	case known.version == 0:
		delete(r.known, key)
	case known.newest > known.version:
		return known.wake
	}
	return nil
}

// know notes which revision of a release is the good one, zero for none, and what to call when that changes.
func (r *Records) know(key types.NamespacedName, version int, wake func(why string)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.known[key]; known != nil {
		known.version, known.wake = version, wake
	}
}

// covers reports whether changes in a namespace would be noticed. Where nobody follows records, nobody else changes them.
func (r *Records) covers(namespace string) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live[""] || r.live[namespace]
}

// OnChange registers what to do when the release of a resource was changed by somebody else. It has to be called before
// the first run. why says in a sentence what happened.
func (e *Engine) OnChange(wake func(owner types.NamespacedName, why string)) { e.wake = wake }

// following notes that the run is at work on its release, and returns what to call when it has ended.
func (r *run) following() (end func()) { return r.e.cfg.Records.begin(r.releaseKey()) }

// knows notes which revision of the run's release is the good one; zero for none.
func (r *run) knows(version int) {
	e, owner := r.e, r.job.Owner
	e.cfg.Records.know(r.releaseKey(), version, func(why string) {
		e.good.Remove(owner.UID) // so that the next run looks, whatever it is for
		if e.wake != nil {
			e.wake(types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name}, why)
		}
	})
}

func (r *run) releaseKey() types.NamespacedName {
	return types.NamespacedName{Namespace: r.namespace, Name: r.job.Owner.Name}
}

// stands reports whether the newest revision still is the one that is remembered. Changes are told, as a rule; where they
// cannot be, it takes a look.
func (r *run) stands(known goodRun) (bool, error) {
	if r.e.cfg.Records.covers(r.namespace) {
		return true, nil
	}
	if err := r.connect(r.ctx, r.content.name()); err != nil {
		return false, err
	}
	last := r.store.history.last()
	return last != nil && last.version == known.release.Version && last.digest == known.digest && last.good(), nil
}
