package budget

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
)

// order lets requests wait for a slot and returns the order in which they get it. Between two requests
// the given time goes by.
func order(t *testing.T, requests []Request, between time.Duration) []string {
	t.Helper()
	var got []string
	synctest.Test(t, func(t *testing.T) {
		b := New(1, clock.RealClock{})
		release, _, err := b.Acquire(t.Context(), Request{Watch: "first"})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var group sync.WaitGroup
		for _, request := range requests {
			group.Go(func() {
				release, waited, err := b.Acquire(t.Context(), request)
				if err != nil || !waited {
					t.Errorf("waited %v, error %v", waited, err)
					return
				}
				mu.Lock()
				got = append(got, request.Watch)
				mu.Unlock()
				release()
			})
			synctest.Wait()
			time.Sleep(between)
		}
		release()
		group.Wait()
	})
	return got
}

// Covers UP A1.
func TestWhoComesNext(t *testing.T) {
	tests := []struct {
		name     string
		requests []Request
		between  time.Duration
		want     []string
	}{
		{"equals come in the order in which they asked", []Request{{"a", 1}, {"b", 1}, {"c", 1}}, 0, []string{"a", "b", "c"}},
		{"the urgent one comes first", []Request{{"period", 1}, {"spec", 5}, {"deletion", 9}}, 0, []string{"deletion", "spec", "period"}},
		{"who waited too long comes before the urgent", []Request{{"period", 1}, {"spec", 5}}, patience, []string{"period", "spec"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, order(t, tt.requests, tt.between)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWatchesShareFairly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(3, clock.RealClock{})
		var held []func()
		for range 3 {
			release, _, err := b.Acquire(t.Context(), Request{Watch: "greedy"})
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, release)
		}
		got := make(chan string, 2)
		for _, watch := range []string{"greedy", "modest"} {
			go func() {
				if _, _, err := b.Acquire(t.Context(), Request{Watch: watch}); err == nil {
					got <- watch
				}
			}()
			synctest.Wait()
		}
		held[0]()
		if first := <-got; first != "modest" {
			t.Errorf("the slot went to %s, which has two already", first)
		}
		held[1]()
		<-got
	})
}

func TestReserveLetsEachWatchHaveOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1, clock.RealClock{}, Reserve)
		parent, _, err := b.Acquire(t.Context(), Request{Watch: "parent"})
		if err != nil {
			t.Fatal(err)
		}
		child, waited, err := b.Acquire(t.Context(), Request{Watch: "child"})
		if err != nil || waited {
			t.Fatalf("the play that the parent's waits for has to wait itself: %v, %v", waited, err)
		}
		second := make(chan struct{})
		go func() {
			defer close(second)
			if release, waited, err := b.Acquire(t.Context(), Request{Watch: "child"}); err != nil || !waited {
				t.Errorf("waited %v, error %v", waited, err)
			} else {
				release()
			}
		}()
		synctest.Wait()
		child() // the parent still has the only slot, but the other watch has none now
		<-second
		parent()
	})
}

func TestGivingUpLosesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1, clock.RealClock{})
		release, _, err := b.Acquire(t.Context(), Request{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, _, err := b.Acquire(ctx, Request{})
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		release()
		release() // twice is once
		again, waited, err := b.Acquire(t.Context(), Request{})
		if err != nil || waited {
			t.Fatalf("waited %v, error %v", waited, err)
		}
		again()
	})
}

func TestNeverMoreThanItsSize(t *testing.T) {
	b := New(3, clock.RealClock{})
	var now atomic.Int32
	var mu sync.Mutex
	var most int32
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%5 == 0 {
				cancel()
			}
			release, _, err := b.Acquire(ctx, Request{Watch: string(rune('a' + i%4)), Priority: i % 3})
			if err != nil {
				return
			}
			n := now.Add(1)
			mu.Lock()
			most = max(most, n)
			mu.Unlock()
			now.Add(-1)
			release()
		})
	}
	group.Wait()
	if most > 3 {
		t.Errorf("%d at one time", most)
	}
	if b.taken != 0 || len(b.waiting) != 0 || len(b.running) != 0 {
		t.Errorf("left: %d taken, %d waiting, running %v", b.taken, len(b.waiting), b.running)
	}
}

// Covers AO 10.3 no. 8, UP A5, B9.
func TestDefault(t *testing.T) {
	tests := []struct {
		name  string
		cpus  int
		limit uint64
		want  int
	}{
		{"no limit of memory: the CPUs decide", 2, 0, 8},
		{"what a cgroup without a limit says", 2, 1<<63 - 4096, 8},
		{"the limit that Operator SDK scaffolds", 1, 768 << 20, 4},
		{"little memory beside many CPUs", 16, 768 << 20, 4},
		{"less than one run takes: one nevertheless", 2, 64 << 20, 1},
		{"unknown CPUs", 0, 0, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Default(tt.cpus, tt.limit); got != tt.want {
				t.Errorf("Default(%d, %d) = %d, want %d", tt.cpus, tt.limit, got, tt.want)
			}
		})
	}
}
