package dependents

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// TestWhatIsDropped looks at a kind of child after a time without a run.
// Covers AO 10.4 no. 2.
func TestWhatIsDropped(t *testing.T) {
	other := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Other"}
	for _, tc := range []struct {
		why   string
		do    func(d *desk, k *kind)
		after time.Duration
		want  []string // primaries that are still interested
	}{
		{why: "a child that a run has just made may not be known yet", after: idleAfter - time.Minute, want: []string{"App", "Other"}},
		{why: "a kind without children is dropped", after: idleAfter},
		{
			why:   "a kind with a child is kept for as long as there is one",
			do:    func(d *desk, _ *kind) { d.add(child(1, "v")) },
			after: time.Hour, want: []string{"App"},
		},
		{
			why: "a child that is gone does not count",
			do: func(d *desk, _ *kind) {
				d.add(child(1, "v"))
				d.delete(child(2, "v"))
			},
			after: idleAfter,
		},
		{
			why:   "a watch that is denied may miss children",
			do:    func(_ *desk, k *kind) { k.trouble[""] = Unwatched{Reason: ReasonForbidden} },
			after: time.Hour, want: []string{"App", "Other"},
		},
		{
			why:   "a kind that is not served has no children",
			do:    func(_ *desk, k *kind) { k.trouble[""] = Unwatched{Reason: ReasonNotServed} },
			after: idleAfter,
		},
		{
			why:   "a list that is still to come may bring some",
			do:    func(d *desk, _ *kind) { d.stream.listed = false },
			after: time.Hour, want: []string{"App", "Other"},
		},
		{
			why:   "children of a scope that nobody watches cost nothing, and that they are there must stay known",
			do:    func(_ *desk, k *kind) { k.clusterScoped = true },
			after: time.Hour, want: []string{"App", "Other"},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			d := newDesk(t)
			d.AddPrimary(Primary{GVK: other})
			d.Watch(appGVK, mapGVK)
			d.Watch(other, mapGVK)
			k := d.watched[mapGVK.GroupKind()]
			stopped := false
			k.stop = func() { stopped = true }
			k.streams[""] = d.stream
			d.list()
			if tc.do != nil {
				tc.do(d, k)
			}
			for range int(tc.after / idleCheck) {
				d.clock.Step(idleCheck)
				d.sweep()
			}
			var got []string
			for _, s := range k.subscriptions {
				got = append(got, s.primary.GVK.Kind)
			}
			if len(got) != len(tc.want) || len(got) > 0 && got[0] != tc.want[0] {
				t.Errorf("interested are still %v, want %v", got, tc.want)
			}
			if _, watched := d.watched[mapGVK.GroupKind()]; watched == (len(tc.want) == 0) || stopped == watched {
				t.Errorf("watched: %v, stopped: %v; want the watch to go with the last who is interested", watched, stopped)
			}
		})
	}
}

// TestAskingAgainKeepsAWatch covers runs that delete their child and make it anew, each time.
func TestAskingAgainKeepsAWatch(t *testing.T) {
	d := newDesk(t)
	for range 10 {
		d.Watch(appGVK, mapGVK)
		d.watched[mapGVK.GroupKind()].streams[""] = d.stream
		d.list()
		d.clock.Step(idleAfter - time.Minute)
		d.sweep()
	}
	if len(d.watched) != 1 {
		t.Error("a watch was dropped although runs asked for it")
	}
}

// TestTwoVersionsOfOneOwner has a resource that is reconciled in two versions of its kind at once: the end of one run is
// not the end of the other.
func TestTwoVersionsOfOneOwner(t *testing.T) {
	d := newDesk(t)
	d.add(child(1, "v"))
	newer := appX
	newer.APIVersion = "example.com/v2"
	d.BeginRun(appX)
	d.BeginRun(newer)
	d.EndRun(appX, nil)
	d.update(child(2, "w"))
	if len(d.woken) > 0 {
		t.Errorf("woken while a run is active: %v", d.woken)
	}
	d.EndRun(newer, nil)
	if len(d.woken) != 1 {
		t.Errorf("woken after both have ended: %v, want once", d.woken)
	}
}

// TestOwnWritesAreBounded makes sure that runs with very many writes cost a bounded memory.
func TestOwnWritesAreBounded(t *testing.T) {
	var own ownWrites
	for i := range 10 * maxOwnWrites {
		own.add(time.Unix(1, 0), []engine.Write{wrote(i)})
	}
	if n := len(own.young) + len(own.old); n > 2*maxOwnWrites {
		t.Errorf("%d writes are remembered, want at most %d", n, 2*maxOwnWrites)
	}
}
