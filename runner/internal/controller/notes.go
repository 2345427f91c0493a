package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// urgency orders triggers: of several causes for one run the most urgent is named.
var urgency = map[engine.Trigger]int{
	engine.TriggerDeletion:  7,
	engine.TriggerSpec:      6,
	engine.TriggerMetadata:  5,
	engine.TriggerRequest:   4,
	engine.TriggerDependent: 3,
	engine.TriggerRetry:     2,
	engine.TriggerPeriod:    1,
	engine.TriggerInitial:   0,
}

// priorityOf returns the priority of a trigger in the work queue, so that periodic and initial runs never hold up
// what somebody waits for.
func priorityOf(trigger engine.Trigger) int {
	return 10 * (urgency[trigger] - urgency[engine.TriggerRetry])
}

// notes remember why resources were queued: a queue holds keys and nothing else.
type notes struct {
	mu      sync.Mutex
	waiting map[types.NamespacedName]engine.Trigger // noted since the last run began
	planned map[types.NamespacedName]engine.Trigger // why the resource will come back by itself
}

func newNotes() *notes {
	return &notes{waiting: map[types.NamespacedName]engine.Trigger{}, planned: map[types.NamespacedName]engine.Trigger{}}
}

// add notes trigger for key, unless a more urgent one is there already.
func (n *notes) add(key types.NamespacedName, trigger engine.Trigger) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if have, ok := n.waiting[key]; !ok || urgency[trigger] > urgency[have] {
		n.waiting[key] = trigger
	}
}

// plan notes why key will be queued again after a while; the empty trigger forgets it.
func (n *notes) plan(key types.NamespacedName, trigger engine.Trigger) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if trigger == "" {
		delete(n.planned, key)
		return
	}
	n.planned[key] = trigger
}

// take returns why key was queued and forgets it.
func (n *notes) take(key types.NamespacedName) engine.Trigger {
	n.mu.Lock()
	defer n.mu.Unlock()
	trigger, ok := n.waiting[key]
	if !ok {
		trigger, ok = n.planned[key]
	}
	if !ok {
		trigger = engine.TriggerRetry // an error of the controller's own brought it back
	}
	delete(n.waiting, key)
	delete(n.planned, key)
	return trigger
}

// forget drops what is noted for a resource that is gone.
func (n *notes) forget(key types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.waiting, key)
	delete(n.planned, key)
}
