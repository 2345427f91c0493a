package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// maxBody is how long a body may be to be marked. The API server refuses what is longer than 3 MiB by itself.
const maxBody = 3<<20 + 1

// markBody puts a mark on the object in a request's body. A body in which there is no object, for whatever reason, is
// passed on as it is: it is for the API server to say what is wrong with it.
func markBody(r *http.Request, m mark) {
	if r.Body == nil || r.Header.Get("Content-Encoding") != "" {
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil || len(body) == maxBody {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		return
	}
	if marked, err := m.encode(r.Header.Get("Content-Type"), body); err == nil {
		body = marked
	}
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
}

// encode returns the body of a request with the mark on the object in it.
func (m mark) encode(contentType string, body []byte) ([]byte, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return nil, fmt.Errorf("read the type of a body: %w", err)
	}
	switch media {
	case "", runtime.ContentTypeJSON: // the API server takes a body without a type for JSON too
		return m.encodeJSON(body)
	case runtime.ContentTypeYAML:
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return nil, fmt.Errorf("read a body: %w", err)
		}
		return m.encodeJSON(body) // which is YAML too
	case runtime.ContentTypeProtobuf:
		return m.encodeProtobuf(body)
	default:
		return nil, errNoObject
	}
}

func (m mark) encodeJSON(body []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // a number passes as it was written, however long it is
	var obj map[string]any
	if err := decoder.Decode(&obj); err != nil {
		return nil, fmt.Errorf("read a body: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF || obj == nil {
		return nil, errNoObject
	}
	if err := m.apply(obj); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(obj); err != nil {
		return nil, fmt.Errorf("write a body: %w", err)
	}
	return out.Bytes(), nil
}
