package dependents

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// newFollowingDesk is a desk whose primary follows the status of ConfigMaps.
func newFollowingDesk(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	d.AddPrimary(Primary{
		GVK:          appGVK,
		FollowStatus: func(child schema.GroupKind) bool { return child.Kind == "ConfigMap" },
		Wake: func(owner types.NamespacedName, child engine.Child, why Why) {
			d.woken = append(d.woken, fmt.Sprintf("%s: %s %s", owner.Name, child.Name, why))
		},
	})
	return d
}

// withStatus returns a child of appX in a certain state, with a condition.
func withStatus(version int, ready, heartbeat string) *unstructured.Unstructured {
	obj := child(version, "v")
	obj.Object["status"] = map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": ready, "lastProbeTime": heartbeat},
	}}
	return obj
}

func TestStatusOfChildren(t *testing.T) {
	const status, created, edited = "x: c status", "x: c created", "x: c edited"
	for _, tc := range []struct {
		why  string
		do   func(d *desk)
		want []string
	}{
		{
			why: "a status that changes is news (UP D5)",
			do: func(d *desk) {
				d.list(withStatus(1, "False", ""))
				d.update(withStatus(2, "True", ""))
			},
			want: []string{status},
		},
		{
			why: "a heartbeat is not",
			do: func(d *desk) {
				d.list(withStatus(1, "True", "12:00"))
				d.update(withStatus(2, "True", "12:01"))
			},
		},
		{
			why: "a run that changes nothing comes to rest: an event with the same status is none",
			do: func(d *desk) {
				d.list(withStatus(1, "True", ""))
				for version := 2; version < 9; version++ {
					d.BeginRun(appX)
					d.update(withStatus(version, "True", ""))
					d.EndRun(appX, nil)
				}
			},
		},
		{
			why: "a status that changes during a run is news after it",
			do: func(d *desk) {
				d.list(withStatus(1, "False", ""))
				d.BeginRun(appX)
				d.update(withStatus(2, "True", ""))
				d.EndRun(appX, nil)
			},
			want: []string{status},
		},
		{
			why: "one that the run wrote is its own",
			do: func(d *desk) {
				d.list(withStatus(1, "False", ""))
				d.BeginRun(appX)
				d.update(withStatus(2, "True", ""))
				d.EndRun(appX, []engine.Write{wrote(2)})
			},
		},
		{
			why: "somebody else creates a child",
			do: func(d *desk) {
				d.list()
				d.add(withStatus(1, "False", ""))
			},
			want: []string{created},
		},
		{
			why: "the run creates a child",
			do: func(d *desk) {
				d.list()
				d.BeginRun(appX)
				d.add(withStatus(1, "False", ""))
				d.EndRun(appX, []engine.Write{wrote(1)})
			},
		},
		{
			why: "children that are found at the start were there before",
			do:  func(d *desk) { d.list(withStatus(1, "True", "")) },
		},
		{
			why: "the run creates the first child of its kind, which is as it was when the watch begins",
			do: func(d *desk) {
				d.BeginRun(appX)
				d.list(withStatus(1, "False", ""))
				d.EndRun(appX, []engine.Write{wrote(1)})
			},
		},
		{
			why: "the run creates the first child of its kind, which is ready before the watch begins: nothing else would tell",
			do: func(d *desk) {
				d.BeginRun(appX)
				d.list(withStatus(2, "True", ""))
				d.EndRun(appX, []engine.Write{wrote(1)})
			},
			want: []string{created},
		},
		{
			why: "the same, when the run is over before the list comes",
			do: func(d *desk) {
				d.BeginRun(appX)
				d.EndRun(appX, []engine.Write{wrote(1)})
				d.list(withStatus(2, "True", ""))
			},
			want: []string{created},
		},
		{
			why: "a list that says the same again is no news",
			do: func(d *desk) {
				d.list(withStatus(1, "True", ""))
				d.list(withStatus(1, "True", ""))
			},
		},
		{
			why: "what was applied and the status change at once: one wake",
			do: func(d *desk) {
				d.list(withStatus(1, "False", ""))
				both := withStatus(2, "True", "")
				both.Object["data"] = map[string]any{"k": "w"}
				d.update(both)
			},
			want: []string{edited},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			d := newFollowingDesk(t)
			tc.do(d)
			if diff := cmp.Diff(tc.want, d.woken); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			ordinary := newDesk(t)
			tc.do(ordinary)
			for _, woken := range ordinary.woken {
				if woken != edited {
					t.Errorf("a primary that does not follow status is woken: %s", woken)
				}
			}
		})
	}
}

func TestStatusOfOtherKindsDoesNotCount(t *testing.T) {
	d := newFollowingDesk(t)
	d.primaries[appGVK].FollowStatus = func(child schema.GroupKind) bool { return child.Kind == "Job" }
	d.list(withStatus(1, "False", ""))
	d.update(withStatus(2, "True", ""))
	if len(d.woken) != 0 {
		t.Errorf("woken: %v", d.woken)
	}
}
