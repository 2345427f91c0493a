package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Where the stand-in serves its two parts.
const (
	storePath    = "/store"
	trainingPath = "/training"
)

// Limits of the stand-in.
const (
	maxObjects  = 1000
	maxBody     = 1 << 20 // bytes
	maxRequests = 1000    // that are remembered
	maxGPUs     = 8       // that the training service gives leave for
)

// request is one request that the stand-in has answered.
type request struct {
	At           time.Time
	Method, Path string
	Status       int
}

// store stands in for the services outside the cluster that playbooks talk to: a store for buckets and secrets, and
// a service that gives leave to train. Of what is stored it keeps a digest only.
type store struct {
	now func() time.Time

	mu       sync.Mutex
	objects  map[string]string // digest by path
	requests []request
	changed  func()
}

// newStore returns a stand-in that holds the given objects.
func newStore(objects map[string]string, now func() time.Time) *store {
	held := map[string]string{}
	maps.Copy(held, objects)
	return &store{now: now, objects: held, changed: func() {}}
}

// handler serves the stand-in.
func (s *store) handler() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{storePath + "/buckets/{name}", storePath + "/secrets/{namespace}/{name}"} {
		mux.HandleFunc("PUT "+path, s.put)
		mux.HandleFunc("GET "+path, s.get)
		mux.HandleFunc("DELETE "+path, s.delete)
	}
	mux.HandleFunc("GET "+trainingPath+"/quota", s.quota)
	return mux
}

func (s *store) put(w http.ResponseWriter, r *http.Request) {
	digest := sha256.New()
	if _, err := io.Copy(digest, http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		s.answer(w, r, status, answer{})
		return
	}
	status, changed := s.keep(r.URL.Path, hex.EncodeToString(digest.Sum(nil)))
	s.answer(w, r, status, answer{Changed: &changed})
}

// keep stores a digest and returns the status to answer with.
func (s *store) keep(path, digest string) (status int, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, there := s.objects[path]
	if !there && len(s.objects) >= maxObjects {
		return http.StatusInsufficientStorage, false
	}
	s.objects[path] = digest
	if !there {
		return http.StatusCreated, true
	}
	return http.StatusOK, old != digest
}

func (s *store) get(w http.ResponseWriter, r *http.Request) {
	digest, there := s.digest(r.URL.Path)
	if !there {
		s.answer(w, r, http.StatusNotFound, answer{})
		return
	}
	s.answer(w, r, http.StatusOK, answer{SHA256: digest})
}

func (s *store) delete(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	_, there := s.objects[r.URL.Path]
	delete(s.objects, r.URL.Path)
	s.mu.Unlock()
	if !there {
		s.answer(w, r, http.StatusNotFound, answer{})
		return
	}
	s.answer(w, r, http.StatusNoContent, answer{})
}

// quota gives leave for as many GPUs as the service has.
func (s *store) quota(w http.ResponseWriter, r *http.Request) {
	gpus, err := strconv.Atoi(r.URL.Query().Get("gpus"))
	switch {
	case err != nil || gpus < 0:
		s.answer(w, r, http.StatusBadRequest, answer{})
	case gpus > maxGPUs:
		s.answer(w, r, http.StatusOK, answer{Allowed: new(false), Message: fmt.Sprintf("there are %d GPUs", maxGPUs)})
	default:
		s.answer(w, r, http.StatusOK, answer{Allowed: new(true)})
	}
}

// answer is the body of an answer. The zero one stands for none.
type answer struct {
	Changed *bool  `json:"changed,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
	Allowed *bool  `json:"allowed,omitempty"`
	Message string `json:"message,omitempty"`
}

// answer answers a request and remembers it.
func (s *store) answer(w http.ResponseWriter, r *http.Request, status int, body answer) {
	s.mu.Lock()
	s.requests = append(s.requests, request{At: s.now(), Method: r.Method, Path: r.URL.Path, Status: status})
	s.requests = s.requests[max(0, len(s.requests)-maxRequests):]
	changed := s.changed
	s.mu.Unlock()
	if data, err := json.Marshal(body); err == nil && body != (answer{}) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(data) // a client that went away needs no answer
	} else {
		w.WriteHeader(status)
	}
	changed()
}

// digest returns the digest of what is stored under a path.
func (s *store) digest(path string) (digest string, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	digest, there = s.objects[path]
	return digest, there
}

// snapshot returns a copy of what is stored.
func (s *store) snapshot() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.objects)
}

// seen returns the last request with this method and path.
func (s *store) seen(method, path string) (request, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range slices.Backward(s.requests) {
		if r.Method == method && r.Path == path {
			return r, true
		}
	}
	return request{}, false
}

// onChange has fn called after each request.
func (s *store) onChange(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = fn
}
