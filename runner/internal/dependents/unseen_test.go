package dependents

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// TestDeletionBeforeTheFirstList covers a child that a run made and somebody deleted while the watch on its kind was only
// being begun.
func TestDeletionBeforeTheFirstList(t *testing.T) {
	for _, tc := range []struct {
		why  string
		do   func(d *desk)
		want []string
	}{
		{
			why:  "what the list does not show has been deleted",
			do:   func(d *desk) { d.EndRun(appX, []engine.Write{wrote(1)}); d.list() },
			want: []string{"x: c deleted"},
		},
		{
			why: "and is told once",
			do: func(d *desk) {
				d.EndRun(appX, []engine.Write{wrote(1), wrote(2)})
				d.list()
				d.list()
			},
			want: []string{"x: c deleted"},
		},
		{
			why: "what the list shows has not",
			do:  func(d *desk) { d.EndRun(appX, []engine.Write{wrote(1)}); d.list(child(1, "v")) },
		},
		{
			why: "however it is by now: who sets the status of a new child is no news",
			do:  func(d *desk) { d.EndRun(appX, []engine.Write{wrote(1)}); d.list(child(5, "v")) },
		},
		{
			why: "a run may delete what it made",
			do: func(d *desk) {
				d.EndRun(appX, []engine.Write{wrote(1), {UID: "c1", Deleted: true}})
				d.list()
			},
		},
		{
			why: "once objects are known, the watch tells",
			do: func(d *desk) {
				d.list()
				d.EndRun(appX, []engine.Write{wrote(1)})
				d.list()
			},
		},
		{
			why: "a run in between waits for its end",
			do: func(d *desk) {
				d.EndRun(appX, []engine.Write{wrote(1)})
				d.BeginRun(appX)
				d.list()
				d.woken = append(d.woken, "end")
				d.EndRun(appX, nil)
			},
			want: []string{"end", "x: c deleted"},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			d := newDesk(t)
			d.Watch(appGVK, mapGVK)
			d.stream.kind = d.watched[mapGVK.GroupKind()]
			d.stream.kind.streams[""] = d.stream
			tc.do(d)
			if diff := cmp.Diff(tc.want, d.woken); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
			if n := len(d.stream.kind.unseen); n != 0 {
				t.Errorf("%d writes are still remembered", n)
			}
		})
	}
}
