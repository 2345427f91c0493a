package dependents

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// desk is a registry with one stream of ConfigMaps, fed by hand.
type desk struct {
	*Registry
	t      *testing.T
	stream *stream
	clock  *testclock.FakeClock
	woken  []string
}

var appX = engine.Owner{APIVersion: "example.com/v1", Kind: "App", Namespace: "a", Name: "x", UID: "u"}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, clock: testclock.NewFakeClock(time.Unix(1e9, 0))}
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

func (d *desk) add(obj *unstructured.Unstructured)    { d.check(d.stream.Add(obj)) }
func (d *desk) update(obj *unstructured.Unstructured) { d.check(d.stream.Update(obj)) }
func (d *desk) delete(obj *unstructured.Unstructured) { d.check(d.stream.Delete(obj)) }

func (d *desk) list(objects ...any) { d.check(d.stream.Replace(objects, "9")) }

func (d *desk) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func TestWhatWakes(t *testing.T) {
	const edited, deleted = "x: c edited", "x: c deleted"
	for _, tc := range []struct {
		why  string
		do   func(d *desk)
		want []string
	}{
		{
			why: "a child that is seen for the first time is no news",
			do:  func(d *desk) { d.add(child(1, "v")) },
		},
		{
			why: "an edit is",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.update(child(2, "w"))
			},
			want: []string{edited},
		},
		{
			why: "an event without a change of what matters is not",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.update(child(2, "v"))
			},
		},
		{
			why: "a deletion is",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.delete(child(2, "v"))
			},
			want: []string{deleted},
		},
		{
			why: "a child on its way out is news when it is gone, not before",
			do: func(d *desk) {
				d.add(child(1, "v"))
				going := child(2, "w")
				going.SetDeletionTimestamp(&metav1.Time{Time: d.clock.Now()})
				d.update(going)
				d.delete(going)
			},
			want: []string{deleted},
		},
		{
			why: "who takes our reference away is noticed",
			do: func(d *desk) {
				d.add(child(1, "v"))
				orphan := child(2, "v")
				orphan.SetOwnerReferences(nil)
				d.update(orphan)
			},
			want: []string{edited},
		},
		{
			why: "a list says the same again",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.list(child(1, "v"))
			},
		},
		{
			why: "a list shows what was missed while the watch was broken: an edit",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.list(child(5, "w"))
			},
			want: []string{edited},
		},
		{
			why: "a list shows what was missed while the watch was broken: a deletion",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.list()
			},
			want: []string{deleted},
		},
		{
			why: "a child that was deleted and made anew as it was needs no repair",
			do: func(d *desk) {
				d.add(child(1, "v"))
				again := child(5, "v")
				again.SetUID("c2")
				d.list(again)
			},
		},
		{
			why: "a child that was made anew in another way does",
			do: func(d *desk) {
				d.add(child(1, "v"))
				again := child(5, "w")
				again.SetUID("c2")
				d.list(again)
			},
			want: []string{edited},
		},
		{
			why: "an own write, event first",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.BeginRun(appX)
				d.update(child(2, "w"))
				d.EndRun(appX, []engine.Write{wrote(2)})
			},
		},
		{
			why: "an own write, event after the end of the run",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.BeginRun(appX)
				d.EndRun(appX, []engine.Write{wrote(2)})
				d.update(child(2, "w"))
			},
		},
		{
			why: "an own write, event in the middle of the next run",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.BeginRun(appX)
				d.EndRun(appX, []engine.Write{wrote(2)})
				d.BeginRun(appX)
				d.update(child(2, "w"))
				d.EndRun(appX, nil)
			},
		},
		{
			why: "an own deletion, of which the version is not known",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.BeginRun(appX)
				d.delete(child(2, "v"))
				d.EndRun(appX, []engine.Write{{UID: "c1", Deleted: true}})
			},
		},
		{
			why: "an edit by somebody else during a run waits for its end and wakes once",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.BeginRun(appX)
				d.update(child(2, "w"))
				d.update(child(3, "z"))
				d.update(child(4, "y"))
				d.woken = append(d.woken, "end")
				d.EndRun(appX, []engine.Write{wrote(2)})
			},
			want: []string{"end", edited},
		},
		{
			why: "another resource's run is no excuse",
			do: func(d *desk) {
				other := appX
				other.Name = "y"
				d.add(child(1, "v"))
				d.BeginRun(other)
				d.update(child(2, "w"))
			},
			want: []string{edited},
		},
		{
			why: "a write of long ago does not cover an edit of today",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.EndRun(appX, []engine.Write{wrote(2)})
				d.clock.Step(11 * time.Minute)
				d.EndRun(appX, nil)
				d.update(child(2, "w"))
			},
			want: []string{edited},
		},
		{
			why: "too many changes to remember wake",
			do: func(d *desk) {
				d.add(child(1, "v"))
				d.BeginRun(appX)
				writes := []engine.Write{}
				for i := range maxWaiting + 1 {
					d.update(child(i+2, fmt.Sprint(i)))
					writes = append(writes, wrote(i+2))
				}
				d.EndRun(appX, writes)
			},
			want: []string{edited},
		},
		{
			why: "what belongs to nobody is not kept",
			do: func(d *desk) {
				stray := child(1, "v")
				stray.SetOwnerReferences(nil)
				d.list(stray)
				d.update(stray)
				if n := len(d.stream.records); n != 0 {
					d.t.Errorf("%d records are kept of objects without an owner", n)
				}
			},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			d := newDesk(t)
			tc.do(d)
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
