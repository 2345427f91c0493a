package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
)

// definitions are the resources that decide which kinds are served.
var definitions = []schema.GroupVersionResource{
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
}

// How long to wait before definitions are watched again after that has failed.
const (
	minPause = time.Second
	maxPause = 5 * time.Minute
)

// allKinds is one document about all kinds outside the core group, which never changes. Its tag changes with any.
var allKinds = documentKey{"/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"}

// change notes that kinds came, went or are others now.
func (m *memory) change() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed = m.clock.Now()
}

// watched reports whether all changes of kinds are noticed. The lock must be held.
func (m *memory) watched() bool { return len(m.following) == len(definitions) }

// check finds out whether kinds have changed where nobody tells. It returns how many questions that took.
func (m *memory) check(ctx context.Context, key documentKey, again bool) (int, error) {
	if key.subject() != kinds || !m.due(again) {
		return 0, nil
	}
	_, asked, err := flight(ctx, m, "check", 0, func(ctx context.Context) (struct{}, error) { return struct{}{}, m.compare(ctx) })
	return asked, err
}

func (m *memory) due(again bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	age := m.clock.Now().Sub(m.checked)
	return !m.watched() && (age >= unwatched || again && age >= insisted)
}

// compare asks for all kinds, if they are not those of the last time.
func (m *memory) compare(ctx context.Context) error {
	m.mu.Lock()
	tag := m.tag
	m.mu.Unlock()
	header := http.Header{"Accept": {allKinds.accept}}
	if tag != "" {
		header.Set("If-None-Match", tag)
	}
	now := m.clock.Now()
	answer, err := m.asker.ask(ctx, allKinds.path, header, maxDocument)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checked = now
	if answer.status == http.StatusNotModified {
		return nil
	}
	fresh := answer.header.Get("ETag")
	if fresh == "" || fresh != tag && tag != "" {
		m.changed = now // an API server that has no such document cannot tell that nothing has changed
	}
	m.tag = fresh
	return nil
}

// answered looks at an answer of the API server for a sign that kinds have changed.
func (p *Proxy) answered(req apirecord.Request, resp *http.Response) {
	for _, d := range definitions {
		if req.Group == d.Group && req.Resource == d.Resource && (req.Writes() || req.Verb == "deletecollection") && resp.StatusCode < 300 {
			p.memory.change() // as soon as the client knows it; the watch may be later
			return
		}
	}
	// Where there is no such kind, the API server answers in plain text.
	if resp.StatusCode == http.StatusNotFound && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		if _, known := p.stored.lookUp(req.GroupVersion().String(), req.Resource); known {
			p.memory.change()
		}
	}
}

// follow watches definitions until ctx is done.
func (m *memory) follow(ctx context.Context, group *errgroup.Group, client metadata.Interface, log logr.Logger) {
	for _, d := range definitions {
		group.Go(func() error {
			for pause := minPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
				watching, err := m.followOnce(ctx, client, d)
				if watching {
					pause = minPause
				}
				log.V(1).Info("Definitions of kinds are not watched; the API server is asked instead", "resource", d.Resource, "error", err, "pause", pause)
				select {
				case <-ctx.Done():
				case <-m.after(pause):
				}
			}
			return nil
		})
	}
}

// followOnce watches until the API server ends it. It reports whether it came to watching at all.
func (m *memory) followOnce(ctx context.Context, client metadata.Interface, d schema.GroupVersionResource) (bool, error) {
	list, err := client.Resource(d).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return false, fmt.Errorf("list %s: %w", d.Resource, err)
	}
	events, err := client.Resource(d).Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true})
	if err != nil {
		return false, fmt.Errorf("watch %s: %w", d.Resource, err)
	}
	defer events.Stop()
	m.setFollowing(d, true)
	defer m.setFollowing(d, false)
	for event := range events.ResultChan() {
		switch event.Type {
		case watch.Error:
			return true, fmt.Errorf("watch %s: %v", d.Resource, event.Object)
		case watch.Bookmark:
		default:
			m.change()
		}
	}
	return true, nil
}

// setFollowing notes whether a resource is watched from now on. What happened while it was not is not known.
func (m *memory) setFollowing(d schema.GroupVersionResource, following bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !following {
		delete(m.following, d.Resource)
		return
	}
	m.following[d.Resource] = true
	m.doubted = m.clock.Now()
}

// serveRemembered answers a request for a document about kinds. It reports false if it is not one, or one that is not
// remembered.
func (p *Proxy) serveRemembered(w http.ResponseWriter, r *http.Request, session *Session) bool {
	key, ok := documentOf(r)
	if !ok {
		return false
	}
	found, asked, err := p.memory.get(r.Context(), key, session.asks(key))
	session.count(asked, err == nil)
	switch {
	case err == nil:
		found.write(w, r)
	case errors.Is(err, errTooLong):
		return false
	default:
		unreachable(w, r, err)
	}
	return true
}
