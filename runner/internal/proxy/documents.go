package proxy

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// How much of what the API server says about itself is remembered. What is longer passes through.
const (
	maxDocument  = 16 << 20 // bytes of one document
	maxDocuments = 1 << 10
	maxMemory    = 48 << 20 // bytes of all documents
	maxAccept    = 512      // bytes of the header Accept
)

// subject is what a document is about.
type subject int

const (
	kinds     subject = iota // which kinds are served
	schemas                  // what their fields are
	editions                 // those of the API server itself
	immutable                // schemas under an address of their own
)

// documentKey names a document: what a client asks for, and in which format.
type documentKey struct {
	path   string // with what is left of the query
	accept string
}

func (k documentKey) String() string { return k.accept + " " + k.path }

// subject returns what a document is about.
func (k documentKey) subject() subject {
	path, query, _ := strings.Cut(k.path, "?")
	switch {
	case path == "/version":
		return editions
	case strings.HasPrefix(path, "/openapi/v3/") && strings.HasPrefix(query, "hash="):
		return immutable
	case strings.HasPrefix(path, "/openapi/"):
		return schemas
	default:
		return kinds
	}
}

// documentOf returns which document a request asks for. It reports false if it does not ask for one, or in a way that
// only the API server understands.
func documentOf(r *http.Request) (documentKey, bool) {
	if r.Method != http.MethodGet || r.Header.Get("Upgrade") != "" || impersonates(r.Header) {
		return documentKey{}, false
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if !isDocument(path) || len(accept) > maxAccept {
		return documentKey{}, false
	}
	query := r.URL.Query()
	query.Del("timeout") // which client-go always sends, and the API server does not read here
	switch {
	case len(query) == 0:
		return documentKey{path, accept}, true
	case len(query) == 1 && len(query["hash"]) == 1 && strings.HasPrefix(path, "/openapi/v3/"):
		return documentKey{path + "?hash=" + url.QueryEscape(query.Get("hash")), accept}, true
	}
	return documentKey{}, false
}

func isDocument(path string) bool {
	parts := strings.Split(path, "/")[1:]
	switch {
	case len(parts) == 0:
		return false
	case parts[0] == "version", parts[0] == "api":
		return len(parts) == 1 || parts[0] == "api" && len(parts) == 2
	case parts[0] == "apis":
		return len(parts) <= 3
	case parts[0] == "openapi":
		return len(parts) == 2 || len(parts) > 2 && parts[1] == "v3"
	}
	return false
}

// document is an answer that is remembered.
type document struct {
	reply
	at   time.Time // when it was given, or confirmed
	used uint64    // the higher, the later
}

func (d *document) size() int { return len(d.body) + 1<<10 }

// write answers with the document, or says that the client has it already.
func (d *document) write(w http.ResponseWriter, r *http.Request) {
	for _, name := range []string{"Content-Type", "Etag", "Last-Modified", "Cache-Control", "Vary", "Retry-After", "Warning", "Location", "X-Varied-Accept"} {
		if values := d.header.Values(name); len(values) > 0 {
			w.Header()[name] = values
		}
	}
	if tag := d.header.Get("ETag"); tag != "" && d.status == http.StatusOK && sameTag(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(d.status)
	_, _ = w.Write(d.body) //nolint:gosec // it is what the API server said, under its own type
}

// sameTag reports whether a tag is among those of an If-None-Match header.
func sameTag(list, tag string) bool {
	for have := range strings.SplitSeq(list, ",") {
		if strings.TrimPrefix(strings.TrimSpace(have), "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
