package controller

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/watches"
)

// siblings tell which resources are those of other watches of the same kind.
type siblings struct {
	own    labels.Selector
	others []labels.Selector
	first  bool // this watch is the first of its kind, who looks after what nobody selects
}

func siblingsOf(w watches.Watch, own labels.Selector) siblings {
	s := siblings{own: own, first: true}
	for _, sibling := range w.Siblings {
		selector, err := metav1.LabelSelectorAsSelector(&sibling.Selector)
		if err != nil {
			continue // not reached: the file was checked
		}
		s.others = append(s.others, selector)
		s.first = s.first && !sibling.Earlier
	}
	return s
}

// have reports whether a resource with these labels is another watch's.
func (s siblings) have(set labels.Set) bool {
	for _, other := range s.others {
		if other.Matches(set) {
			return true
		}
	}
	return len(s.others) > 0 && !s.first && !s.own.Matches(set)
}

// Turns keep the runs of one resource apart. A resource that changes from one watch to another may have a run in
// progress.
type Turns struct {
	mu   sync.Mutex
	busy map[types.NamespacedName]chan struct{}
}

// take waits for the turn of a resource. The error says that ctx was done first.
func (t *Turns) take(ctx context.Context, name types.NamespacedName) (done func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	for {
		t.mu.Lock()
		before, taken := t.busy[name]
		if !taken {
			mine := make(chan struct{})
			if t.busy == nil {
				t.busy = map[types.NamespacedName]chan struct{}{}
			}
			t.busy[name] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.busy, name)
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
