package controller

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// lobby holds the visits that wait until their run may start.
type lobby struct {
	mu     sync.Mutex
	visits map[types.NamespacedName]waiting
}

// waiting is a resource that waits for its run.
type waiting struct {
	cause
	why string
}

func newLobby() *lobby { return &lobby{visits: map[types.NamespacedName]waiting{}} }

// enter notes a visit until the returned function is called.
func (l *lobby) enter(v *visit) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.visits[v.key] = waiting{v.cause, v.news.reason(v.trigger)}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.visits, v.key)
	}
}

func (l *lobby) all() map[types.NamespacedName]waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.visits)
}
