package controller

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// urgency orders triggers: of several causes for one run the most urgent is named.
var urgency = map[engine.Trigger]int{
	engine.TriggerDeletion:  8,
	engine.TriggerSpec:      7,
	engine.TriggerMetadata:  6,
	engine.TriggerRequest:   5,
	engine.TriggerDependent: 4,
	engine.TriggerRelated:   4,
	engine.TriggerSchedule:  3,
	engine.TriggerRetry:     2,
	engine.TriggerPeriod:    1,
	engine.TriggerInitial:   0,
}

// priorityOf returns the priority of a trigger in the work queue, so that periodic and initial runs never hold up
// what somebody waits for.
func priorityOf(trigger engine.Trigger) int {
	return 10 * (urgency[trigger] - urgency[engine.TriggerRetry])
}

// cause is why a resource is visited.
type cause struct {
	trigger engine.Trigger
	due     tick // for engine.TriggerSchedule
}

// tick is a time of a schedule.
type tick struct {
	schedule string // its name; empty for none
	at       time.Time
}

// appointment is when and why a resource comes back by itself.
type appointment struct {
	trigger engine.Trigger
	at      time.Time
}

// notes remember why resources were queued: a queue holds keys and nothing else.
type notes struct {
	mu      sync.Mutex
	waiting map[types.NamespacedName]engine.Trigger // noted since the last visit began
	planned map[types.NamespacedName]appointment
	ticks   map[types.NamespacedName]tick

	news newsDesk // what runs are told about why they happen
}

func newNotes() *notes {
	return &notes{
		waiting: map[types.NamespacedName]engine.Trigger{},
		planned: map[types.NamespacedName]appointment{},
		ticks:   map[types.NamespacedName]tick{},
	}
}

// add notes trigger for key, unless a more urgent one is there already.
func (n *notes) add(key types.NamespacedName, trigger engine.Trigger) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if have, ok := n.waiting[key]; !ok || urgency[trigger] > urgency[have] {
		n.waiting[key] = trigger
	}
}

// plan notes why and when key comes back by itself; the empty trigger forgets it.
func (n *notes) plan(key types.NamespacedName, trigger engine.Trigger, at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if trigger == "" {
		delete(n.planned, key)
		return
	}
	n.planned[key] = appointment{trigger, at}
}

// schedule notes the next time of key's schedules; one without a name forgets it.
func (n *notes) schedule(key types.NamespacedName, next tick) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if next.schedule == "" {
		delete(n.ticks, key)
		return
	}
	n.ticks[key] = next
}

// take returns why key was queued and forgets it. The trigger is empty when there is no cause any more: what was noted has
// been dealt with by a visit that began later than the note was made.
func (n *notes) take(key types.NamespacedName, now time.Time) cause {
	n.mu.Lock()
	defer n.mu.Unlock()
	if trigger, ok := n.waiting[key]; ok {
		delete(n.waiting, key)
		return cause{trigger: trigger}
	}
	if due, ok := n.ticks[key]; ok && !now.Before(due.at) {
		delete(n.ticks, key)
		return cause{trigger: engine.TriggerSchedule, due: due}
	}
	planned, ok := n.planned[key]
	if !ok || now.Before(planned.at) {
		return cause{}
	}
	delete(n.planned, key)
	return cause{trigger: planned.trigger}
}

// next returns how long it is until key comes back by itself; zero if it does not. A visit that came in between has used
// up the queue's own timer.
func (n *notes) next(key types.NamespacedName, now time.Time) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	planned, hasPlan := n.planned[key]
	due, hasTick := n.ticks[key]
	at := planned.at
	switch {
	case !hasPlan && !hasTick:
		return 0
	case !hasPlan || hasTick && due.at.Before(at):
		at = due.at
	}
	return max(at.Sub(now), time.Nanosecond)
}

// arrival is when and why a resource comes back by itself.
type arrival struct {
	cause
	at time.Time
}

// all returns why resources are queued, and when others come back by themselves.
func (n *notes) all() (queued map[types.NamespacedName]engine.Trigger, planned map[types.NamespacedName]arrival) {
	n.mu.Lock()
	defer n.mu.Unlock()
	planned = map[types.NamespacedName]arrival{}
	for key, plan := range n.planned {
		planned[key] = arrival{cause{trigger: plan.trigger}, plan.at}
	}
	for key, due := range n.ticks {
		if plan, ok := planned[key]; !ok || due.at.Before(plan.at) {
			planned[key] = arrival{cause{engine.TriggerSchedule, due}, due.at}
		}
	}
	return maps.Clone(n.waiting), planned
}

// forget drops what is noted for a resource that is gone.
func (n *notes) forget(key types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.waiting, key)
	delete(n.planned, key)
	delete(n.ticks, key)
}
