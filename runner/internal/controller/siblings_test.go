package controller

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/watches"
)

// Each resource is exactly one watch's, whatever its labels.
func TestSiblingsShareOut(t *testing.T) {
	one := metav1.LabelSelector{MatchLabels: map[string]string{"v": "1"}}
	two := metav1.LabelSelector{MatchLabels: map[string]string{"v": "2"}}
	all := []watches.Watch{
		{Selector: one, Siblings: []watches.Sibling{{Selector: two}}},
		{Selector: two, Siblings: []watches.Sibling{{Selector: one, Earlier: true}}},
	}
	for value, want := range map[string]int{"1": 0, "2": 1, "3": 0, "": 0} {
		for i, w := range all {
			own, err := metav1.LabelSelectorAsSelector(&w.Selector)
			if err != nil {
				t.Fatal(err)
			}
			if mine := !siblingsOf(w, own).have(labels.Set{"v": value}); mine != (i == want) {
				t.Errorf("v=%q: watch %d looks after it: %v", value, i, mine)
			}
		}
	}
	if siblingsOf(watches.Watch{}, labels.Everything()).have(labels.Set{}) {
		t.Error("a watch without siblings leaves a resource to them")
	}
}

func TestTurns(t *testing.T) {
	turns, name := &Turns{}, types.NamespacedName{Name: "one"}
	var running, most atomic.Int32
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			done, err := turns.take(t.Context(), name)
			if err != nil {
				t.Error(err)
				return
			}
			most.Store(max(most.Load(), running.Add(1)))
			running.Add(-1)
			done()
		})
	}
	group.Wait()
	if most.Load() != 1 || len(turns.busy) != 0 {
		t.Errorf("%d had their turn at once, %d are left", most.Load(), len(turns.busy))
	}
	done, err := turns.take(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.take(ctx, name); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if other, err := turns.take(ctx, types.NamespacedName{Name: "two"}); err != nil {
		t.Errorf("another resource waits: %v", err)
	} else {
		other()
	}
}
