package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// maxBody is how long a body may be to be marked. The API server refuses what is longer than 3 MiB by itself.
const maxBody = 3<<20 + 1

// holdBody reads a request's body whole. It reports false for one that is too long, broken or encoded, and leaves it
// as it was: it is for the API server to say what is wrong with it.
func holdBody(r *http.Request) ([]byte, bool) {
	if r.Body == nil || r.Header.Get("Content-Encoding") != "" {
		return nil, false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil || len(body) == maxBody {
		rest := io.Reader(r.Body)
		if err != nil {
			rest = failure{err}
		}
		r.Body = joined{io.MultiReader(bytes.NewReader(body), rest), r.Body}
		return nil, false
	}
	return body, true
}

// putBody gives a request another body.
func putBody(r *http.Request, body []byte) {
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body = io.NopCloser(bytes.NewReader(body))
}

// joined is a body that is read from one place and closed at another.
type joined struct {
	io.Reader
	io.Closer
}

// failure is the end of a body that could not be read further.
type failure struct{ err error }

// Read implements io.Reader.
func (f failure) Read([]byte) (int, error) { return 0, f.err }

// encode returns the body of a request with the mark on the object in it.
func (m mark) encode(contentType string, body []byte) ([]byte, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return nil, fmt.Errorf("read the type of a body: %w", err)
	}
	switch media {
	case "", runtime.ContentTypeJSON: // the API server takes a body without a type for JSON too
		return m.encodeJSON(body)
	case runtime.ContentTypeYAML, string(types.ApplyYAMLPatchType):
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return nil, fmt.Errorf("read a body: %w", err)
		}
		return m.encodeJSON(body) // which is YAML too
	case runtime.ContentTypeProtobuf:
		return m.encodeProtobuf(body)
	case runtime.ContentTypeCBOR, string(types.ApplyCBORPatchType):
		return m.encodeCBOR(body)
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

// cborMagic is what CBOR of the Kubernetes API begins with: a tag that says that this is CBOR.
var cborMagic = []byte{0xd9, 0xd9, 0xf7}

func (m mark) encodeCBOR(body []byte) ([]byte, error) {
	var obj map[string]any
	if err := direct.Unmarshal(body, &obj); err != nil {
		return nil, fmt.Errorf("read a CBOR body: %w", err)
	}
	if obj == nil {
		return nil, errNoObject
	}
	if err := m.apply(obj); err != nil {
		return nil, err
	}
	out, err := direct.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("write a CBOR body: %w", err)
	}
	if bytes.HasPrefix(body, cborMagic) {
		out = append(bytes.Clone(cborMagic), out...)
	}
	return out, nil
}
