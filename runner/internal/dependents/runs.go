package dependents

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// This file is the one place that says what a run's own write is.
//
// A change is a run's own if the API server answered a request of the run with just that state of the object: the
// same UID and the same resourceVersion. The answer and the watch event are two ways to the same news, and either
// may be the faster one. So changes to the children of a resource wait while a run of it is active, and what the
// run wrote is remembered for a while after it has ended.

const (
	// maxWaiting is how many changes wait for the end of one run. When there are more, the owner is woken at the
	// end whatever they are.
	maxWaiting = 4096
	// remember is for how long at least an own write is recognised. A watch event that takes longer wakes the
	// owner needlessly, no more.
	remember = 5 * time.Minute
	// maxOwnWrites bounds the memory of own writes: when there are more in one half, the older half goes early.
	maxOwnWrites = 100_000
)

// run stands for the active runs of one owner. There is more than one when its kind is watched in two versions.
type run struct {
	active  int
	waiting []change
	more    bool // waiting is full
}

// ownWrite is a state of an object that a run brought about.
type ownWrite struct {
	uid     types.UID
	version string // empty when the object is deleted
}

// ownWrites remembers writes for a time between remember and twice that. It does not look at single ages: what
// lies in the older half when the time is over is dropped as one.
type ownWrites struct {
	young, old map[ownWrite]struct{}
	turned     time.Time
}

func (w *ownWrites) add(now time.Time, writes []engine.Write) {
	if age := now.Sub(w.turned); age >= remember || len(w.young) >= maxOwnWrites {
		w.old = w.young
		if age >= 2*remember {
			w.old = nil
		}
		w.young, w.turned = nil, now
	}
	if w.young == nil {
		w.young = map[ownWrite]struct{}{}
	}
	for _, write := range writes {
		if write.UID == "" {
			continue
		}
		if write.Deleted {
			w.young[ownWrite{uid: write.UID}] = struct{}{}
		}
		if write.ResourceVersion != "" {
			w.young[ownWrite{uid: write.UID, version: write.ResourceVersion}] = struct{}{}
			w.young[ownWrite{uid: write.UID, version: anyVersion}] = struct{}{}
		}
	}
}

// has reports whether a change is an own write, or nothing that a run could want to know.
func (w *ownWrites) has(c change) bool {
	if c.listed && !w.knows(ownWrite{uid: c.uid, version: anyVersion}) {
		return true // it was there before
	}
	key := ownWrite{uid: c.uid, version: c.version}
	if c.why == Deleted {
		key.version = ""
	}
	return w.knows(key)
}

func (w *ownWrites) knows(key ownWrite) bool {
	_, young := w.young[key]
	_, old := w.old[key]
	return young || old
}

// BeginRun says that a run of owner starts. Until EndRun is called, no change of its children wakes it.
func (r *Registry) BeginRun(owner engine.Owner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := keyOf(owner)
	if r.runs[key] == nil {
		r.runs[key] = &run{}
	}
	r.runs[key].active++
}

// EndRun says that the run of owner is over and which writes it made. If children changed meanwhile by somebody
// else's hand, owner is woken once, before EndRun returns.
func (r *Registry) EndRun(owner engine.Owner, writes []engine.Write) {
	wakes := r.endRun(keyOf(owner), writes)
	fire(wakes)
}

func (r *Registry) endRun(owner ownerKey, writes []engine.Write) []wake {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own.add(r.clock.Now(), writes)
	r.noteUnseen(owner, writes)
	ended := r.runs[owner]
	if ended == nil {
		return nil
	}
	if ended.active--; ended.active > 0 {
		return nil
	}
	delete(r.runs, owner)
	for _, c := range ended.waiting {
		if ended.more || !r.own.has(c) {
			return r.wakesOf(owner, c)
		}
	}
	return nil
}

// deliver takes changes in, and wakes owners of those that were not their own doing.
func (r *Registry) deliver(take func() []change) {
	fire(r.sort(take))
}

func (r *Registry) sort(take func() []change) []wake {
	r.mu.Lock()
	defer r.mu.Unlock()
	var wakes []wake
	for _, c := range take() {
		own := r.own.has(c)
		if own && !c.listed {
			continue
		}
		for _, owner := range c.owners {
			if active := r.runs[owner]; active != nil {
				active.wait(c) // whether it wrote what a list shows is known at its end
				continue
			} else if own {
				continue
			}
			wakes = append(wakes, r.wakesOf(owner, c)...)
		}
	}
	return wakes
}

func (a *run) wait(c change) {
	if len(a.waiting) == maxWaiting {
		a.more = true
		return
	}
	a.waiting = append(a.waiting, c)
}

// wake is a call that is made when no lock is held.
type wake struct {
	primary *Primary
	owner   types.NamespacedName
	change  change
}

func (r *Registry) wakesOf(owner ownerKey, c change) []wake {
	var wakes []wake
	for _, primary := range r.primaries {
		if primary.GVK.GroupKind() == owner.kind {
			wakes = append(wakes, wake{primary: primary, owner: owner.name, change: c})
		}
	}
	return wakes
}

func fire(wakes []wake) {
	for _, w := range wakes {
		w.primary.Wake(w.owner, w.change.child, w.change.why)
	}
}
