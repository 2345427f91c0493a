package budget

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// patience is how long a run waits at most for more urgent ones. After that it comes next, so that a stream of urgent
// runs cannot hold the others up for ever.
const patience = 2 * time.Minute

// Budget is a bounded number of slots for runs. It is safe for concurrent use.
//
// With Reserve each watch may have one run at any time, whatever the others do: a play that makes a resource of another
// kind and waits for it to become ready would otherwise wait for ever when such plays have all the slots. There may then
// be a few more runs than slots.
type Budget struct {
	clock   clock.PassiveClock
	size    int
	reserve bool

	mu      sync.Mutex
	taken   int
	running map[string]int // slots by watch
	waiting []*ticket      // in the order in which they came
}

// Request is who asks for a slot.
type Request struct {
	Watch    string // whose run it is; watches share the budget fairly
	Priority int    // the higher goes first
}

// ticket is a request that waits.
type ticket struct {
	Request
	since time.Time
	ready chan struct{} // closed when the slot is there
}

// Option changes how slots are given.
type Option func(*Budget)

// Reserve keeps one slot for each watch.
func Reserve(b *Budget) { b.reserve = true }

// New returns a budget of so many slots, at least one.
func New(slots int, clock clock.PassiveClock, options ...Option) *Budget {
	b := &Budget{clock: clock, size: max(1, slots), running: map[string]int{}}
	for _, option := range options {
		option(b)
	}
	return b
}

// Size is the number of slots.
func (b *Budget) Size() int { return b.size }

// Acquire returns when there is a slot for request, and whether it had to wait. The slot is given back by release,
// which may be called more than once. The error says that ctx was done first.
func (b *Budget) Acquire(ctx context.Context, request Request) (release func(), waited bool, err error) {
	b.mu.Lock()
	if b.reserved(request.Watch) || b.taken < b.size && len(b.waiting) == 0 {
		b.take(request.Watch)
		b.mu.Unlock()
		return b.releaser(request.Watch), false, nil
	}
	t := &ticket{Request: request, since: b.clock.Now(), ready: make(chan struct{})}
	b.waiting = append(b.waiting, t)
	b.mu.Unlock()

	select {
	case <-t.ready:
		return b.releaser(request.Watch), true, nil
	case <-ctx.Done():
		b.giveUp(t)
		return nil, true, fmt.Errorf("wait for other runs to end: %w", ctx.Err())
	}
}

// giveUp takes a ticket out of the queue, or gives its slot back if it got one in the last moment.
func (b *Budget) giveUp(t *ticket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, t)
	if i < 0 {
		b.put(t.Watch)
		return
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
}

func (b *Budget) take(watch string) {
	b.taken++
	b.running[watch]++
}

// admits reports whether a watch may have another slot.
func (b *Budget) admits(watch string) bool { return b.taken < b.size || b.reserved(watch) }

func (b *Budget) reserved(watch string) bool { return b.reserve && b.running[watch] == 0 }

// put gives a slot back and hands it to who comes next.
func (b *Budget) put(watch string) {
	b.taken--
	if b.running[watch]--; b.running[watch] == 0 {
		delete(b.running, watch)
	}
	i := b.next(b.clock.Now())
	if i < 0 {
		return
	}
	t := b.waiting[i]
	b.waiting = slices.Delete(b.waiting, i, i+1)
	b.take(t.Watch)
	close(t.ready)
}

// next returns the index of the ticket that gets the next slot: who has waited too long, else the most urgent, else
// that of the watch with the fewest runs, else the first that came. It is negative when nobody may have one.
func (b *Budget) next(now time.Time) int {
	best := -1
	for i, t := range b.waiting {
		switch {
		case !b.admits(t.Watch):
		case best < 0:
			best = i
			if now.Sub(t.since) >= patience {
				return i
			}
		case b.before(t, b.waiting[best]):
			best = i
		}
	}
	return best
}

func (b *Budget) before(t, other *ticket) bool {
	if t.Priority != other.Priority {
		return t.Priority > other.Priority
	}
	return b.running[t.Watch] < b.running[other.Watch]
}

func (b *Budget) releaser(watch string) func() {
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.put(watch)
	})
}
