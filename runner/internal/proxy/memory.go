package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// How long what is remembered is believed.
const (
	// settling is how long after a change the API server may go on to tell about it bit by bit. What it says in the
	// meantime is confirmed each time.
	settling = 10 * time.Second
	// unwatched is how long kinds are believed where they cannot be watched.
	unwatched = 10 * time.Second
	// insisted is the same for a client that asks a second time: it may look for a kind that it has not found.
	insisted = time.Second
	// unwatchedEdition is the same for the version of the API server.
	unwatchedEdition = 10 * time.Minute
	// failing is how long a part of the API that does not work is left alone.
	failing = 5 * time.Second
	// askTimeout bounds one question. A part of the API may be slow to say that it does not work.
	askTimeout = 30 * time.Second
)

// memory answers what the API server serves without asking it each time. Never an object: only documents about kinds.
// It is safe for concurrent use.
type memory struct {
	asker   asker
	clock   clock.PassiveClock
	after   func(time.Duration) <-chan time.Time
	flights singleflight.Group
	life    context.Context //nolint:containedctx // questions go on when the client that began them is gone
	end     context.CancelFunc

	mu        sync.Mutex
	documents map[documentKey]*document
	tooLong   map[documentKey]struct{}
	size      int
	uses      uint64
	changed   time.Time // when kinds changed last
	doubted   time.Time // since when changes of kinds are noticed
	checked   time.Time // when they were last found to be as they were; counts where they are not watched
	tag       string    // of all kinds then
	following map[string]bool
}

func newMemory(way asker, c clock.PassiveClock) *memory {
	m := &memory{
		asker: way, clock: c, after: time.After,
		documents: map[documentKey]*document{}, tooLong: map[documentKey]struct{}{}, following: map[string]bool{},
	}
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

// get returns a document, and how many questions to the API server that took. Again says that the client has asked
// before. Only an API server that cannot be reached is an error, and errTooLong.
func (m *memory) get(ctx context.Context, key documentKey, again bool) (*document, int, error) {
	asked, err := m.check(ctx, key, again)
	if err != nil {
		return nil, asked, err
	}
	have, fresh, tooLong := m.lookUp(key)
	if tooLong {
		return nil, asked, errTooLong
	}
	if fresh {
		return have, asked, nil
	}
	return flight(ctx, m, key.String(), asked, func(ctx context.Context) (*document, error) { return m.fetch(ctx, key, have) })
}

// flight has one of all that ask for the same at the same time ask the API server. It does not end with the one that
// does: the others wait for it too.
func flight[T any](ctx context.Context, m *memory, key string, asked int, ask func(context.Context) (T, error)) (T, int, error) {
	var zero T
	leads := false
	landed := m.flights.DoChan(key, func() (any, error) { //nolint:contextcheck // it goes on for the others
		leads = true
		ctx, cancel := context.WithTimeout(m.life, askTimeout)
		defer cancel()
		return ask(ctx)
	})
	select {
	case <-ctx.Done():
		return zero, asked, ctx.Err()
	case result := <-landed:
		if leads {
			asked++
		}
		if result.Err != nil {
			return zero, asked, result.Err
		}
		value, _ := result.Val.(T) // one key is always asked for in one way
		return value, asked, nil
	}
}

// lookUp returns what is remembered of a document, and whether it may be believed.
func (m *memory) lookUp(key documentKey) (have *document, fresh, tooLong bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, tooLong = m.tooLong[key]
	have = m.documents[key]
	if have == nil {
		return nil, false, tooLong
	}
	m.uses++
	have.used = m.uses
	return have, m.fresh(key, have), false
}

// fresh reports whether a document may be believed. The lock must be held.
func (m *memory) fresh(key documentKey, have *document) bool {
	now, settled := m.clock.Now(), m.changed.Add(settling)
	what := key.subject()
	switch {
	case have.status != http.StatusOK:
		return now.Before(have.at.Add(failing)) && have.at.After(m.changed)
	case what == immutable:
		return true
	case have.at.Before(settled), have.at.Before(m.doubted):
		return false
	case m.watched(), what == kinds:
		return true // check has seen to the latter
	case what == editions:
		return now.Before(have.at.Add(unwatchedEdition))
	}
	return false // schemas change without any kind coming or going
}

// fetch asks the API server for a document, or whether the one that is remembered still holds.
func (m *memory) fetch(ctx context.Context, key documentKey, have *document) (*document, error) {
	header := http.Header{}
	if key.accept != "" {
		header.Set("Accept", key.accept)
	}
	if have != nil && have.status == http.StatusOK && have.header.Get("ETag") != "" {
		header.Set("If-None-Match", have.header.Get("ETag"))
	}
	begun := m.clock.Now() // what changes from here on may not be in the answer
	answer, err := m.asker.ask(ctx, key.path, header, maxDocument)
	if errors.Is(err, errTooLong) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.tooLong) < maxDocuments {
			m.tooLong[key] = struct{}{}
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	if answer.status == http.StatusNotModified && have != nil {
		answer = have.reply
	}
	fetched := &document{reply: answer, at: begun}
	if answer.status == http.StatusOK || answer.status >= http.StatusInternalServerError {
		m.keep(key, fetched)
	}
	return fetched, nil
}

// keep remembers a document, and forgets those that were not used for the longest time if it gets too much.
func (m *memory) keep(key documentKey, fetched *document) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.documents[key]; old != nil {
		m.size -= old.size()
	}
	m.uses++
	fetched.used = m.uses
	m.documents[key] = fetched
	m.size += fetched.size()
	if m.size <= maxMemory && len(m.documents) <= maxDocuments {
		return
	}
	byUse := slices.SortedFunc(maps.Keys(m.documents), func(a, b documentKey) int {
		return cmp.Compare(m.documents[a].used, m.documents[b].used)
	})
	for _, oldest := range byUse {
		if m.size <= maxMemory*3/4 && len(m.documents) <= maxDocuments*3/4 || oldest == key {
			return
		}
		m.size -= m.documents[oldest].size()
		delete(m.documents, oldest)
	}
}

// ServerResourcesForGroupVersion implements [Discovery].
func (m *memory) ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error) {
	path := "/apis/" + groupVersion
	if !strings.Contains(groupVersion, "/") {
		path = "/api/" + groupVersion
	}
	found, _, err := m.get(context.Background(), documentKey{path, "application/json"}, false)
	if err != nil {
		return nil, err
	}
	var list metav1.APIResourceList
	if found.status != http.StatusOK {
		return nil, fmt.Errorf("ask for the resources of %s: %w %d", groupVersion, errStatus, found.status)
	}
	if err := json.Unmarshal(found.body, &list); err != nil {
		return nil, fmt.Errorf("read the resources of %s: %w", groupVersion, err)
	}
	return &list, nil
}

var errStatus = errors.New("the API server answers with status")
