package dependents

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// desk is a registry with one stream of ConfigMaps, fed by hand.
type desk struct {
	*Registry
	stream *stream
	clock  *testclock.FakeClock
	woken  []string
}

var appX = engine.Owner{APIVersion: "example.com/v1", Kind: "App", Namespace: "a", Name: "x", UID: "u"}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{clock: testclock.NewFakeClock(time.Unix(1e9, 0))}
	registry, err := New(Config{RESTConfig: &rest.Config{Host: "localhost"}, Log: logr.Discard(), Clock: d.clock})
	if err != nil {
		t.Fatal(err)
	}
	d.Registry = registry
	d.AddPrimary(Primary{GVK: appGVK, Wake: func(owner types.NamespacedName, child engine.Child, why Why) {
		d.woken = append(d.woken, fmt.Sprintf("%s: %s %s", owner.Name, child.Name, why))
	}})
	d.stream = &stream{
		registry: registry,
		gvk:      mapGVK,
		records:  map[types.NamespacedName]*record{},
		synced:   func() {},
		reduce: func(obj *unstructured.Unstructured) *record {
			return newRecord(obj, []*Primary{registry.primaries[appGVK]})
		},
	}
	return d
}

// child returns a child of appX in a certain state.
func child(version int, data string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"k": data}}}
	obj.SetGroupVersionKind(mapGVK)
	obj.SetNamespace("a")
	obj.SetName("c")
	obj.SetUID("c1")
	obj.SetResourceVersion(fmt.Sprint(version))
	obj.Object["metadata"].(map[string]any)["ownerReferences"] = []any{
		map[string]any{"apiVersion": "example.com/v1", "kind": "App", "name": "x", "uid": "u"},
	}
	return obj
}

func wrote(version int) engine.Write {
	return engine.Write{GVK: mapGVK, Namespace: "a", Name: "c", UID: "c1", ResourceVersion: fmt.Sprint(version)}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatWakes(t *testing.T) {
	const edited, deleted = "x: c edited", "x: c deleted"
	for _, tc := range []struct {
		why  string
		do   func(t *testing.T, d *desk)
		want []string
	}{
		{
			why: "a child that is seen for the first time is no news",
			do:  func(t *testing.T, d *desk) { must(t, d.stream.Add(child(1, "v"))) },
		},
		{
			why: "an edit is",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				must(t, d.stream.Update(child(2, "w")))
			},
			want: []string{edited},
		},
		{
			why: "an event without a change of what matters is not",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				must(t, d.stream.Update(child(2, "v")))
			},
		},
		{
			why: "a deletion is",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				must(t, d.stream.Delete(child(2, "v")))
			},
			want: []string{deleted},
		},
		{
			why: "a child on its way out is news when it is gone, not before",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				going := child(2, "w")
				must(t, unstructured.SetNestedField(going.Object, "2026-01-01T00:00:00Z", "metadata", "deletionTimestamp"))
				must(t, d.stream.Update(going))
				must(t, d.stream.Delete(going))
			},
			want: []string{deleted},
		},
		{
			why: "who takes our reference away is noticed",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				orphan := child(2, "v")
				orphan.SetOwnerReferences(nil)
				must(t, d.stream.Update(orphan))
			},
			want: []string{edited},
		},
		{
			why: "a list says the same again",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				must(t, d.stream.Replace([]any{child(1, "v")}, "9"))
			},
		},
		{
			why: "a list shows what was missed while the watch was broken: an edit",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				must(t, d.stream.Replace([]any{child(5, "w")}, "9"))
			},
			want: []string{edited},
		},
		{
			why: "a list shows what was missed while the watch was broken: a deletion",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				must(t, d.stream.Replace(nil, "9"))
			},
			want: []string{deleted},
		},
		{
			why: "a child that was deleted and made anew as it was needs no repair",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				again := child(5, "v")
				again.SetUID("c2")
				must(t, d.stream.Replace([]any{again}, "9"))
			},
		},
		{
			why: "a child that was made anew in another way does",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				again := child(5, "w")
				again.SetUID("c2")
				must(t, d.stream.Replace([]any{again}, "9"))
			},
			want: []string{edited},
		},
		{
			why: "an own write, event first",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				d.BeginRun(appX)
				must(t, d.stream.Update(child(2, "w")))
				d.EndRun(appX, []engine.Write{wrote(2)})
			},
		},
		{
			why: "an own write, event after the end of the run",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				d.BeginRun(appX)
				d.EndRun(appX, []engine.Write{wrote(2)})
				must(t, d.stream.Update(child(2, "w")))
			},
		},
		{
			why: "an own write, event in the middle of the next run",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				d.BeginRun(appX)
				d.EndRun(appX, []engine.Write{wrote(2)})
				d.BeginRun(appX)
				must(t, d.stream.Update(child(2, "w")))
				d.EndRun(appX, nil)
			},
		},
		{
			why: "an own deletion, of which the version is not known",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				d.BeginRun(appX)
				must(t, d.stream.Delete(child(2, "v")))
				d.EndRun(appX, []engine.Write{{UID: "c1", Deleted: true}})
			},
		},
		{
			why: "an edit by somebody else during a run waits for its end and wakes once",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				d.BeginRun(appX)
				must(t, d.stream.Update(child(2, "w")))
				must(t, d.stream.Update(child(3, "z")))
				must(t, d.stream.Update(child(4, "y")))
				d.woken = append(d.woken, "end")
				d.EndRun(appX, []engine.Write{wrote(2)})
			},
			want: []string{"end", edited},
		},
		{
			why: "another resource's run is no excuse",
			do: func(t *testing.T, d *desk) {
				other := appX
				other.Name = "y"
				must(t, d.stream.Add(child(1, "v")))
				d.BeginRun(other)
				must(t, d.stream.Update(child(2, "w")))
			},
			want: []string{edited},
		},
		{
			why: "a write of long ago does not cover an edit of today",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				d.EndRun(appX, []engine.Write{wrote(2)})
				d.clock.Step(11 * time.Minute)
				d.EndRun(appX, nil)
				must(t, d.stream.Update(child(2, "w")))
			},
			want: []string{edited},
		},
		{
			why: "too many changes to remember wake",
			do: func(t *testing.T, d *desk) {
				must(t, d.stream.Add(child(1, "v")))
				d.BeginRun(appX)
				writes := []engine.Write{}
				for i := range maxWaiting + 1 {
					must(t, d.stream.Update(child(i+2, fmt.Sprint(i))))
					writes = append(writes, wrote(i+2))
				}
				d.EndRun(appX, writes)
			},
			want: []string{edited},
		},
		{
			why: "what belongs to nobody is not kept",
			do: func(t *testing.T, d *desk) {
				stray := child(1, "v")
				stray.SetOwnerReferences(nil)
				must(t, d.stream.Replace([]any{stray}, "9"))
				must(t, d.stream.Update(stray))
				if n := len(d.stream.records); n != 0 {
					t.Errorf("%d records are kept of objects without an owner", n)
				}
			},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			d := newDesk(t)
			tc.do(t, d)
			if diff := cmp.Diff(tc.want, d.woken); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOwnWritesAreForgotten makes sure that remembering writes costs no more than a while's worth of memory.
func TestOwnWritesAreForgotten(t *testing.T) {
	d := newDesk(t)
	for i := range 1000 {
		d.EndRun(appX, []engine.Write{wrote(i + 1)})
		d.clock.Step(time.Minute)
	}
	if n := len(d.own.young) + len(d.own.old); n > 20 {
		t.Errorf("%d writes are remembered after a thousand minutes with one each, want those of 10 minutes or so", n)
	}
}
