package usermetrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Limits of one request.
const (
	maxBody        = 16 << 10 // bytes
	maxHeader      = 8 << 10  // bytes
	requestTimeout = 10 * time.Second
	idleTimeout    = 30 * time.Second
)

// path is where old callers report to; that of a run begins with it.
const path = "/metrics"

// Config is what an [Endpoint] needs.
type Config struct {
	Store *Store
	// Address to listen on, of loopback.
	Address string
	// NewToken returns a text that cannot be guessed and may stand in a path.
	NewToken func() string
	// Log gets what the HTTP server has to say.
	Log logr.Logger
}

// Endpoint takes in reports by HTTP. It is safe for concurrent use.
type Endpoint struct {
	store     *Store
	newToken  func() string
	log       logr.Logger
	listeners []net.Listener
	fallback  error

	mu   sync.Mutex
	runs map[string]owner // by token
}

// New returns an endpoint that listens, but does not answer before it is started. Where the address is taken it listens
// on any other port, see [Endpoint.Fallback].
func New(config Config) (*Endpoint, error) {
	e := &Endpoint{store: config.Store, newToken: config.NewToken, log: config.Log, runs: map[string]owner{}}
	if err := e.listen(config.Address); err != nil {
		return nil, fmt.Errorf("open the endpoint for metrics of playbooks: %w", err)
	}
	return e, nil
}

// Fallback returns why the endpoint does not listen where it was told to, so that only runs reach it, by their own URL; nil
// when it does.
func (e *Endpoint) Fallback() error { return e.fallback }

// URL returns where callers that are no run report to.
func (e *Endpoint) URL() string { return "http://" + e.listeners[0].Addr().String() + path }

// Open returns a URL of a run's own, at which what it reports is about its resource, until close is called. The series that
// an earlier resource of the same name has left are dropped.
func (e *Endpoint) Open(resource engine.Owner) (url string, closeURL func()) {
	token := e.newToken()
	e.store.begin(resource)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs[token] = ownerOf(resource)
	return e.URL() + "/" + token, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.runs, token)
	}
}

// Start serves until ctx is done.
func (e *Endpoint) Start(ctx context.Context) error {
	server := &http.Server{
		Handler:        e,
		ReadTimeout:    requestTimeout,
		WriteTimeout:   requestTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(logr.ToSlogHandler(e.log.V(1)), slog.LevelInfo),
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	ended := make(chan error, len(e.listeners))
	for _, listener := range e.listeners {
		go func() { ended <- server.Serve(listener) }()
	}
	var errs []error
	for range e.listeners {
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, err)
			_ = server.Close()
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("serve the endpoint for metrics of playbooks: %w", errors.Join(errs...))
	}
	return nil
}

// ServeHTTP implements [http.Handler].
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, ours := strings.CutPrefix(r.URL.Path, path)
	token, ofRun := strings.CutPrefix(token, "/")
	switch {
	case fromBrowser(r):
		http.Error(w, "this is for playbooks, not for browsers", http.StatusForbidden)
	case !ours || (token != "" && !ofRun) || (token == "" && ofRun):
		http.NotFound(w, r)
	case r.Method != http.MethodPost:
		http.Error(w, "Method not allowed", http.StatusMethodNotAllowed)
	default:
		e.take(w, r, token)
	}
}

// take takes in one report.
func (e *Endpoint) take(w http.ResponseWriter, r *http.Request, token string) {
	about, known := e.owner(token)
	if !known {
		http.Error(w, "there is no such run, or it has ended", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		http.Error(w, fmt.Sprintf("a request may have %d bytes at most", maxBody), http.StatusRequestEntityTooLarge)
		return
	}
	var said report
	if err == nil {
		err = json.Unmarshal(body, &said)
	}
	if err == nil {
		err = e.store.record(about, said)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// owner returns whom reports at a run's URL are about; without a token they are about nobody.
func (e *Endpoint) owner(token string) (about owner, known bool) {
	if token == "" {
		return owner{}, true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	about, known = e.runs[token]
	return about, known
}
