package proxy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// tokenBytes is the length of a token before encoding: 256 bits, which nobody guesses.
const tokenBytes = 32

// tokenHash stands for a token where tokens are looked up, so that the time it takes tells nothing about them.
type tokenHash [sha256.Size]byte

// Session is what the proxy knows of one run. It is safe for concurrent use.
type Session struct {
	proxy    *Proxy
	owner    engine.Owner
	primary  schema.GroupVersionKind
	token    string
	recorder apirecord.Recorder
	ctx      context.Context //nolint:containedctx // it lives as long as the session, which spans many calls
	cancel   context.CancelFunc
	requests sync.WaitGroup           // being answered
	learn    func(obj map[string]any) // nil: nobody wants to know
	sidecars bool                     // nobody's: for who has no token

	mu         sync.Mutex
	kinds      map[schema.GroupVersionKind]struct{}
	known      map[schema.GroupVersionResource]struct{} // resources of kinds
	own        map[objectKey]metav1.ObjectMeta          // the owner's objects that were seen
	asked      map[documentKey]struct{}                 // documents of discovery
	remembered int                                      // answers from memory
	unlearned  int                                      // bodies that could hold Secrets and were not understood
}

// Option is a setting of a [Session].
type Option func(*Session)

// Learn makes a session tell learn of every v1 Secret in a body that passes, in a request or in an answer, as far as
// it is complete there: in reads, lists, JSON watches, creations, updates and patches. Learn is told before the body
// goes on, so that who reads the body later finds it known. It is called by many goroutines at once, must not block,
// and must not change what it is given. [Report.Unlearned] says how often it could not be told.
func Learn(learn func(obj map[string]any)) Option { return func(s *Session) { s.learn = learn } }

// Report is what a run did through the proxy.
type Report struct {
	// Requests counts the requests that were sent to the API server.
	Requests int
	// Remembered counts the questions about what the API server serves that were answered from memory.
	Remembered int
	// Unlearned counts the bodies that may have had Secrets in them that nobody was told of (see [Learn]): longer than
	// 16 MiB, in an unknown format, or a watch in another format than JSON.
	Unlearned int
	// Writes are the changes that the API server accepted, oldest first.
	Writes []engine.Write
	// Denials are the rights that were missing.
	Denials []engine.Denial
	// Kinds are those of the objects that the run made or met and that belong to its resource, sorted.
	Kinds []schema.GroupVersionKind
}

// Open begins a session for a run of owner. It must be closed.
func (p *Proxy) Open(owner engine.Owner, options ...Option) (*Session, error) {
	random := make([]byte, tokenBytes)
	if _, err := io.ReadFull(p.rand, random); err != nil {
		return nil, fmt.Errorf("make a token for the proxy: %w", err)
	}
	s := newSession(p, owner)
	s.token = base64.RawURLEncoding.EncodeToString(random)
	s.recorder.Inspect, s.recorder.Seen = s.wants, s.seen
	for _, o := range options {
		o(s)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[hashOf(s.token)] = s
	return s, nil
}

func newSession(p *Proxy, owner engine.Owner) *Session {
	s := &Session{
		proxy:   p,
		owner:   owner,
		primary: schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind),
		kinds:   map[schema.GroupVersionKind]struct{}{},
		known:   map[schema.GroupVersionResource]struct{}{},
		own:     map[objectKey]metav1.ObjectMeta{},
		asked:   map[documentKey]struct{}{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close ends the session: its token is worth nothing any more, requests that are being answered are broken off. It
// returns what the run did when the last of them has ended. Calling it again does no harm.
func (s *Session) Close() Report {
	s.proxy.mu.Lock()
	delete(s.proxy.sessions, hashOf(s.token))
	s.proxy.mu.Unlock()
	s.cancel()
	s.requests.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return Report{
		Requests:   s.recorder.Requests(),
		Remembered: s.remembered,
		Unlearned:  s.unlearned,
		Writes:     s.recorder.Writes(),
		Denials:    s.recorder.Denials(),
		Kinds: slices.SortedFunc(maps.Keys(s.kinds), func(a, b schema.GroupVersionKind) int {
			return cmp.Compare(a.String(), b.String())
		}),
	}
}

// asks notes that a document is asked for, and reports whether it was before.
func (s *Session) asks(key documentKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, again := s.asked[key]
	if len(s.asked) < maxDocuments {
		s.asked[key] = struct{}{}
	}
	return again
}

// count notes a question about kinds, and how many the API server was asked for the answer.
func (s *Session) count(asked int, answered bool) {
	for range asked {
		s.recorder.CountRequest()
	}
	if asked == 0 && answered {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remembered++
	}
}

// enter returns the session whose token a request brings, or nil. It must be left again.
func (p *Proxy) enter(r *http.Request) *Session {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sessions[hashOf(strings.TrimSpace(token))]
	if s != nil {
		s.requests.Add(1)
	}
	return s
}

func (s *Session) leave() { s.requests.Done() }

func hashOf(token string) tokenHash { return sha256.Sum256([]byte(token)) }
