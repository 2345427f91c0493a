package proxy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"
	metadatafake "k8s.io/client-go/metadata/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/go-logr/logr"
)

// served is an API server that has documents and counts how often it is asked for each.
type served struct {
	mu     sync.Mutex
	kinds  string // what the tag of all kinds is made of
	status map[string]int
	asked  map[string]int
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.URL.Path
	if strings.Contains(r.Header.Get("Accept"), "as=APIGroupDiscoveryList") {
		name += " all"
	}
	s.asked[name]++
	tag := fmt.Sprintf("%q", s.kinds)
	if strings.HasPrefix(r.URL.Path, "/openapi") || name == "/apis all" {
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			s.asked[name+" same"]++
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if code := s.status[r.URL.Path]; code != 0 {
		w.WriteHeader(code)
	}
	fmt.Fprintf(w, `{"path":%q,"kinds":%q}`, name, s.kinds)
}

// counts returns how often what was asked for since the last time.
func (s *served) counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer clear(s.asked)
	return maps.Clone(s.asked)
}

func (s *served) set(change func(*served)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

type memoryStage struct {
	*memory
	served *served
	clock  *clocktesting.FakePassiveClock
}

func newMemoryStage(t *testing.T) *memoryStage {
	t.Helper()
	api := &served{kinds: "a", status: map[string]int{}, asked: map[string]int{}}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	m := newMemory(asker{must(url.Parse(server.URL)), http.DefaultTransport}, clock)
	t.Cleanup(m.end)
	return &memoryStage{memory: m, served: api, clock: clock}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("not expected in this test: %v", err))
	}
	return value
}

func (m *memoryStage) ask(t *testing.T, path string, again bool) string {
	t.Helper()
	found, _, err := m.get(t.Context(), documentKey{path: path}, again)
	if err != nil {
		t.Fatalf("ask for %s: %v", path, err)
	}
	return string(found.body)
}

func (m *memoryStage) advance(d time.Duration) { m.clock.SetTime(m.clock.Now().Add(d)) }

func (m *memoryStage) want(t *testing.T, why string, want map[string]int) {
	t.Helper()
	if want == nil {
		want = map[string]int{}
	}
	if diff := cmp.Diff(want, m.served.counts()); diff != "" {
		t.Errorf("%s: the API server is asked (-want +got):\n%s", why, diff)
	}
}

// watchAll makes the memory believe that it is told of every change.
func (m *memoryStage) watchAll() {
	for _, d := range definitions {
		m.setFollowing(d, true)
	}
	m.advance(time.Millisecond)
}

func TestDocumentsAreAskedForOnce(t *testing.T) {
	m := newMemoryStage(t)
	m.watchAll()
	paths := []string{"/version", "/api", "/apis", "/api/v1", "/apis/apps/v1", "/apis/apps", "/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1"}
	want := map[string]int{}
	for range 3 {
		for _, path := range paths {
			m.ask(t, path, true)
			want[path] = 1
		}
		m.advance(time.Hour)
	}
	m.want(t, "while nothing changes", want)

	m.change()
	m.served.set(func(s *served) { s.kinds = "b" })
	if got := m.ask(t, "/apis/apps/v1", false); !strings.Contains(got, `"b"`) {
		t.Errorf("after a change the answer is %s, want a fresh one", got)
	}
	m.ask(t, "/openapi/v2", false)
	m.ask(t, "/openapi/v2", false)
	m.want(t, "right after a change each answer is confirmed", map[string]int{"/apis/apps/v1": 1, "/openapi/v2": 2, "/openapi/v2 same": 1})
	m.advance(settling + time.Second)
	for range 2 {
		m.ask(t, "/apis/apps/v1", false)
		m.ask(t, "/openapi/v2", false)
	}
	m.want(t, "once things have settled, once more", map[string]int{"/apis/apps/v1": 1, "/openapi/v2": 1, "/openapi/v2 same": 1})
}

// TestUnwatchedKinds has an API server that does not tell when kinds change.
func TestUnwatchedKinds(t *testing.T) {
	m := newMemoryStage(t)
	m.ask(t, "/apis/apps/v1", false)
	m.ask(t, "/apis/apps/v1", false)
	m.want(t, "two runs at once", map[string]int{"/apis all": 1, "/apis/apps/v1": 1})
	m.advance(unwatched)
	m.ask(t, "/apis/apps/v1", false)
	m.ask(t, "/api/v1", false)
	m.want(t, "later, whether anything has changed", map[string]int{"/apis all": 1, "/apis all same": 1, "/api/v1": 1})

	m.served.set(func(s *served) { s.kinds = "b" })
	m.advance(insisted)
	if got := m.ask(t, "/apis/apps/v1", false); !strings.Contains(got, `"a"`) {
		t.Errorf("the answer is %s, want the one that is remembered", got)
	}
	if got := m.ask(t, "/apis/apps/v1", true); !strings.Contains(got, `"b"`) {
		t.Errorf("a client that asks again gets %s, want what is served now", got)
	}
	m.want(t, "a client that looks for a kind again", map[string]int{"/apis all": 1, "/apis/apps/v1": 1})

	m.ask(t, "/version", true)
	m.ask(t, "/version", true)
	m.ask(t, "/openapi/v2", false)
	m.ask(t, "/openapi/v2", false)
	m.want(t, "schemas change by themselves", map[string]int{"/version": 2, "/openapi/v2": 2, "/openapi/v2 same": 1})
}

// TestBrokenAPI has an APIService whose server is down (AO 10.1 no. 12).
func TestBrokenAPI(t *testing.T) {
	m := newMemoryStage(t)
	m.watchAll()
	m.served.set(func(s *served) { s.status["/apis/broken/v1"] = http.StatusServiceUnavailable })
	for range 3 {
		found, _, err := m.get(t.Context(), documentKey{path: "/apis/broken/v1"}, false)
		if err != nil || found.status != http.StatusServiceUnavailable {
			t.Fatalf("the broken one answers %v (%v), want the API server's own answer", found, err)
		}
		m.ask(t, "/apis/apps/v1", false)
	}
	m.want(t, "a broken API is left alone for a while, and matters to no other", map[string]int{"/apis/broken/v1": 1, "/apis/apps/v1": 1})
	m.served.set(func(s *served) { clear(s.status) })
	m.advance(failing)
	m.ask(t, "/apis/broken/v1", false)
	m.ask(t, "/apis/broken/v1", false)
	m.want(t, "once it works again", map[string]int{"/apis/broken/v1": 1})
	m.served.set(func(s *served) { s.status["/apis/late/v1"] = http.StatusNotFound })
	m.ask(t, "/apis/late/v1", false)
	m.ask(t, "/apis/late/v1", false)
	m.want(t, "what is not there may come", map[string]int{"/apis/late/v1": 2})
}

// TestOneQuestionForAll asks from many clients at once, of which the first one goes away (AO 10.1 no. 12).
// Covers AO 10.2 no. 5.
func TestOneQuestionForAll(t *testing.T) {
	asked := atomic.Int32{}
	arrived, answer := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		close(arrived)
		<-answer
	}))
	defer server.Close()
	m := newMemory(asker{must(url.Parse(server.URL)), http.DefaultTransport}, clocktesting.NewFakePassiveClock(time.Now()))
	defer m.end()
	for _, d := range definitions {
		m.setFollowing(d, true)
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { _, _, err := m.get(ctx, documentKey{path: "/apis"}, false); first <- err }()
	<-arrived
	var others errgroup.Group
	for range 20 {
		others.Go(func() error { _, _, err := m.get(t.Context(), documentKey{path: "/apis"}, false); return err })
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who goes away gets %v", err)
	}
	close(answer)
	if err := others.Wait(); err != nil {
		t.Errorf("the others get %v", err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the API server is asked %d times, want once", n)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := newMemoryStage(t)
	long := strings.Repeat("x", maxDocument-1)
	for i := range 10 {
		m.keep(documentKey{path: fmt.Sprint("/openapi/v3/", i)}, &document{reply: reply{status: 200, body: []byte(long)}})
	}
	for i := range 2 * maxDocuments {
		m.keep(documentKey{path: fmt.Sprint("/apis/", i)}, &document{reply: reply{status: 200}})
	}
	sum := 0
	for _, d := range m.documents {
		sum += d.size()
	}
	if sum != m.size || sum > maxMemory || len(m.documents) > maxDocuments {
		t.Errorf("%d documents of %d bytes (%d counted) are remembered", len(m.documents), sum, m.size)
	}
	if m.documents[documentKey{path: fmt.Sprint("/apis/", 2*maxDocuments-1)}] == nil {
		t.Error("the latest document is forgotten")
	}
}

func TestDocumentOf(t *testing.T) {
	for _, tc := range []struct {
		why, method, url, header string
		want                     string // empty: none
	}{
		{why: "groups", url: "/apis", want: "/apis"},
		{why: "as client-go asks", url: "/apis/apps/v1?timeout=32s", want: "/apis/apps/v1"},
		{why: "as others ask", url: "/apis/", want: "/apis"},
		{why: "the core group", url: "/api/v1", want: "/api/v1"},
		{why: "the version", url: "/version", want: "/version"},
		{why: "schemas", url: "/openapi/v2?timeout=32s", want: "/openapi/v2"},
		{why: "schemas of a group", url: "/openapi/v3/apis/apps/v1?hash=AB%2F", want: "/openapi/v3/apis/apps/v1?hash=AB%2F"},
		{why: "objects are never remembered", url: "/api/v1/pods"},
		{why: "those of other groups neither", url: "/apis/apps/v1/deployments"},
		{why: "a namespace is an object", url: "/api/v1/namespaces/a"},
		{why: "other things the API server serves", url: "/healthz"},
		{why: "the root", url: "/"},
		{why: "something that is not understood here", url: "/apis?pretty=1"},
		{why: "the hash of something else", url: "/apis?hash=1"},
		{why: "in someone else's name", url: "/apis", header: "Impersonate-User"},
		{why: "to read only the head", method: http.MethodHead, url: "/apis"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			r := httptest.NewRequest(tc.method, tc.url, nil)
			if tc.header != "" {
				r.Header.Set(tc.header, "x")
			}
			key, ok := documentOf(r)
			if ok != (tc.want != "") || key.path != tc.want {
				t.Errorf("documentOf = %q, %v, want %q", key.path, ok, tc.want)
			}
		})
	}
}

// TestFollow watches definitions: each event is a change, and while the watch is broken nothing is believed.
func TestFollow(t *testing.T) {
	m := newMemoryStage(t)
	paused := make(chan time.Duration)
	m.after = func(d time.Duration) <-chan time.Time {
		paused <- d
		c := make(chan time.Time, 1)
		c <- time.Time{}
		return c
	}
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	client := metadatafake.NewSimpleMetadataClient(scheme)
	watching := make(chan *watch.FakeWatcher)
	client.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
		w := watch.NewFake()
		watching <- w
		return true, w, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	var group errgroup.Group
	m.follow(ctx, &group, client, logr.Discard())
	one, two := <-watching, <-watching
	one.Action(watch.Bookmark, &metav1.PartialObjectMetadata{})
	two.Action(watch.Bookmark, &metav1.PartialObjectMetadata{}) // taken: the watches are noted
	m.mu.Lock()
	if !m.watched() || !m.changed.IsZero() {
		t.Errorf("watched is %v and the last change %v, want nothing but to be watched", m.watched(), m.changed)
	}
	m.mu.Unlock()
	one.Action(watch.Added, &metav1.PartialObjectMetadata{})
	one.Action(watch.Bookmark, &metav1.PartialObjectMetadata{}) // taken: so is what came before
	m.mu.Lock()
	if m.changed.IsZero() {
		t.Error("a new definition goes unnoticed")
	}
	m.mu.Unlock()
	two.Stop()
	if d := <-paused; d != minPause {
		t.Errorf("the pause is %v, want %v", d, minPause)
	}
	m.mu.Lock()
	if m.watched() {
		t.Error("a watch that has ended counts as one")
	}
	m.mu.Unlock()
	three := <-watching
	cancel()
	one.Stop()
	three.Stop()
	go func() { // what is left to say
		for range paused {
		}
	}()
	defer close(paused)
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
