package proxy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
)

// maxLearned is how long an answer, or one event of a watch, may be to be learned from, in bytes.
const maxLearned = 16 << 20

// learns reports whether there may be Secrets in what a request sends or is answered.
func (s *Session) learns(req apirecord.Request) bool {
	return s.learn != nil && req.Group == "" && req.Version == "v1" && req.Resource == "secrets" && req.Subresource == ""
}

// missed notes that a body could not be learned from.
func (s *Session) missed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unlearned++
}

// learnSent learns from a request's body. One that is broken changes nothing and needs no notice; a JSON patch is no
// object, but what it makes of one comes with the answer.
func (s *Session) learnSent(contentType string, body []byte) {
	if objects, err := secretsIn(contentType, body); err == nil {
		s.tell(objects)
	}
}

func (s *Session) tell(objects []map[string]any) {
	for _, obj := range objects {
		s.learn(obj)
	}
}

// learnAnswer learns from an answer before it is read by anybody else. An answer of a limited length is read whole for
// that, a watch event by event.
func (s *Session) learnAnswer(req apirecord.Request, resp *http.Response) {
	if resp.StatusCode < 200 || resp.StatusCode > 299 || resp.Body == nil {
		return
	}
	contentType := resp.Header.Get("Content-Type")
	media, params, err := mime.ParseMediaType(contentType)
	streams := req.Verb == "watch" || params["stream"] != "" // a watch in JSON does not say so
	switch {
	case err != nil, resp.Header.Get("Content-Encoding") != "":
		s.missed()
	case streams && media == runtime.ContentTypeJSON:
		resp.Body = &learnedStream{session: s, closer: resp.Body, source: bufio.NewReader(resp.Body)}
	case streams, resp.ContentLength > maxLearned:
		s.missed()
	default:
		s.learnWhole(contentType, resp)
	}
}

func (s *Session) learnWhole(contentType string, resp *http.Response) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxLearned+1))
	rest := io.Reader(resp.Body)
	if err != nil {
		rest = failure{err}
	}
	resp.Body = joined{io.MultiReader(bytes.NewReader(body), rest), resp.Body}
	if err != nil || len(body) > maxLearned {
		s.missed()
		return
	}
	objects, err := secretsIn(contentType, body)
	if err != nil {
		s.missed()
		return
	}
	s.tell(objects)
}

// learnedStream passes a JSON watch on, one line after the other. Each is one event.
type learnedStream struct {
	session *Session
	closer  io.Closer
	source  *bufio.Reader
	line    []byte // read, but not passed on yet
	err     error  // what comes after it
	long    bool   // within a line that is too long to be held
}

// Read implements io.Reader.
func (l *learnedStream) Read(p []byte) (int, error) {
	if len(l.line) == 0 && l.err == nil {
		l.next()
	}
	if len(l.line) == 0 {
		return 0, l.err
	}
	n := copy(p, l.line)
	l.line = l.line[n:]
	return n, nil
}

// Close implements io.Closer.
func (l *learnedStream) Close() error { return l.closer.Close() }

// next holds a line until it is complete, or too long for that.
func (l *learnedStream) next() {
	l.line = nil
	for {
		piece, err := l.source.ReadSlice('\n')
		l.line = append(l.line, piece...)
		switch goesOn := errors.Is(err, bufio.ErrBufferFull); {
		case goesOn && !l.long && len(l.line) <= maxLearned:
			continue
		case goesOn:
			if !l.long {
				l.session.missed()
			}
			l.long = true
			return
		case l.long:
			l.long = false
		default:
			l.learn()
		}
		l.err = err
		return
	}
}

func (l *learnedStream) learn() {
	var event struct {
		Object json.RawMessage `json:"object"`
	}
	if len(bytes.TrimSpace(l.line)) == 0 {
		return
	}
	if err := json.Unmarshal(l.line, &event); err != nil {
		l.session.missed()
		return
	}
	objects, err := secretsIn(runtime.ContentTypeJSON, event.Object)
	if err != nil {
		l.session.missed()
		return
	}
	l.session.tell(objects)
}

// secretsIn returns the Secrets in a body of a request for Secrets.
func secretsIn(contentType string, body []byte) ([]map[string]any, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return nil, fmt.Errorf("read the type of a body: %w", err)
	}
	if media == runtime.ContentTypeProtobuf {
		return protobufSecrets(body)
	}
	obj, err := decodeAny(media, body)
	if err != nil {
		return nil, err
	}
	switch kind, _ := obj["kind"].(string); kind {
	case "", "Secret":
		return asSecrets(obj), nil
	case "SecretList", "List":
		return asSecrets(listOf(obj, "items")...), nil
	case "Table":
		var objects []map[string]any
		for _, row := range listOf(obj, "rows") {
			if inner, _ := row["object"].(map[string]any); inner["kind"] == "Secret" {
				objects = append(objects, inner)
			}
		}
		return objects, nil
	default:
		return nil, nil // metadata only, or a Status
	}
}

// listOf returns the objects of a field that is a list.
func listOf(obj map[string]any, field string) []map[string]any {
	items, _ := obj[field].([]any)
	var out []map[string]any
	for _, item := range items {
		if typed, ok := item.(map[string]any); ok {
			out = append(out, typed)
		}
	}
	return out
}

// asSecrets names the kind of Secrets that leave it out: those in lists do, and so do patches.
func asSecrets(objects ...map[string]any) []map[string]any {
	for _, obj := range objects {
		obj["apiVersion"], obj["kind"] = "v1", "Secret"
	}
	return objects
}
