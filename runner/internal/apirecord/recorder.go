package apirecord

import (
	"net/http"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// How much a recorder remembers. A run that goes beyond is still carried out; its oldest writes are forgotten,
// which costs it a needless second run at worst, and further refusals are counted among the requests only.
const (
	maxWrites  = 16 << 10
	maxDenials = 64
)

// Recorder notes the requests of one run. The zero value is ready for use. It is safe for concurrent use, but its
// fields must be set before the first request.
type Recorder struct {
	// Inspect, if set, chooses which successful reads of single objects Seen is told of.
	Inspect func(Request) bool
	// Seen, if set, is told of each object in the answer to a write, a dry run included, and to a read that
	// Inspect chose, before the reader of the answer comes to its end. It must not block.
	Seen func(Request, metav1.PartialObjectMetadata)

	mu       sync.Mutex
	requests int
	writes   []engine.Write
	written  map[engine.Write]struct{}
	denials  []engine.Denial
	denied   map[engine.Denial]struct{}
}

// Requests returns how many requests were sent.
func (r *Recorder) Requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// Writes returns the changes that the API server accepted, oldest first, each once. A change whose answer could
// not be read has no UID and no ResourceVersion.
func (r *Recorder) Writes() []engine.Write {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.writes)
}

// Denials returns the rights that were missing, in the order they were first missed, each once.
func (r *Recorder) Denials() []engine.Denial {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.denials)
}

// CountRequest notes that a request is being sent.
func (r *Recorder) CountRequest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
}

// addWrite notes a change, unless the same state of the object was noted before.
func (r *Recorder) addWrite(write engine.Write) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.written[write]; known {
		return
	}
	if len(r.writes) == maxWrites {
		old := r.writes[:maxWrites/4]
		for _, w := range old {
			delete(r.written, w)
		}
		r.writes = slices.Delete(r.writes, 0, len(old))
	}
	if r.written == nil {
		r.written = map[engine.Write]struct{}{}
	}
	r.written[write] = struct{}{}
	r.writes = append(r.writes, write)
}

// addDenial notes a missing right, unless it was noted before for the same namespace.
func (r *Recorder) addDenial(denial engine.Denial) {
	key := denial
	key.Name, key.Message = "", ""
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.denied[key]; known || len(r.denials) == maxDenials {
		return
	}
	if r.denied == nil {
		r.denied = map[engine.Denial]struct{}{}
	}
	r.denied[key] = struct{}{}
	r.denials = append(r.denials, denial)
}

// Wrap returns a transport that sends requests by next and notes them.
func (r *Recorder) Wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{recorder: r, next: next}
}

type transport struct {
	recorder *Recorder
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.recorder.CountRequest()
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if parsed, ok := ParseRequest(req); ok {
		t.recorder.Observe(parsed, resp)
	}
	return resp, nil
}

// WrappedRoundTripper lets client-go find the transport's TLS settings and dialer.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }
