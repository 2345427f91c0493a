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
	requests sync.WaitGroup // being answered

	mu    sync.Mutex
	kinds map[schema.GroupVersionKind]struct{}
	known map[schema.GroupVersionResource]struct{} // resources of kinds
}

// Report is what a run did through the proxy.
type Report struct {
	// Requests counts the requests that were passed on to the API server.
	Requests int
	// Writes are the changes that the API server accepted, oldest first.
	Writes []engine.Write
	// Denials are the rights that were missing.
	Denials []engine.Denial
	// Kinds are those of the objects that the run made or met and that belong to its resource, sorted.
	Kinds []schema.GroupVersionKind
}

// Open begins a session for a run of owner. It must be closed.
func (p *Proxy) Open(owner engine.Owner) (*Session, error) {
	random := make([]byte, tokenBytes)
	if _, err := io.ReadFull(p.rand, random); err != nil {
		return nil, fmt.Errorf("make a token for the proxy: %w", err)
	}
	s := &Session{
		proxy:   p,
		owner:   owner,
		primary: schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind),
		token:   base64.RawURLEncoding.EncodeToString(random),
		kinds:   map[schema.GroupVersionKind]struct{}{},
		known:   map[schema.GroupVersionResource]struct{}{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.recorder.Inspect, s.recorder.Seen = s.wants, s.seen
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[hashOf(s.token)] = s
	return s, nil
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
		Requests: s.recorder.Requests(),
		Writes:   s.recorder.Writes(),
		Denials:  s.recorder.Denials(),
		Kinds: slices.SortedFunc(maps.Keys(s.kinds), func(a, b schema.GroupVersionKind) int {
			return cmp.Compare(a.String(), b.String())
		}),
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
