package status

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// fakeStore is an API server with one object.
type fakeStore struct {
	t       *testing.T
	obj     *unstructured.Unstructured // nil once deleted
	bare    bool                       // the kind has no status subresource
	drops   []string                   // top-level fields of status that the schema does not have
	dropsIn []string                   // fields of conditions that the schema does not have
	before  func(n int)                // called before patch n, from 1
	patches []string
	gets    int
}

var resource = schema.GroupResource{Group: "demo.example.com", Resource: "samples"}

func (s *fakeStore) Get(_ context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.gets++
	if s.obj == nil {
		return nil, apierrors.NewNotFound(resource, obj.GetName())
	}
	return s.obj.DeepCopy(), nil
}

func (s *fakeStore) Patch(_ context.Context, obj *unstructured.Unstructured, subresource string, body []byte) (*unstructured.Unstructured, error) {
	if s.before != nil {
		s.before(len(s.patches) + 1)
	}
	s.patches = append(s.patches, string(body))
	if s.obj == nil || s.bare && subresource != "" {
		return nil, apierrors.NewNotFound(resource, obj.GetName())
	}
	var patch map[string]any
	if err := utiljson.Unmarshal(body, &patch); err != nil {
		s.t.Fatal(err)
	}
	version, _, _ := unstructured.NestedString(patch, "metadata", "resourceVersion")
	if version == "" {
		s.t.Errorf("patch without a version: %s", body)
	}
	if version != s.obj.GetResourceVersion() {
		return nil, apierrors.NewConflict(resource, obj.GetName(), nil)
	}
	next := s.obj.DeepCopy()
	merge(next.Object, patch)
	s.prune(next)
	s.store(next)
	return s.obj.DeepCopy(), nil
}

// store keeps a new version of the object.
func (s *fakeStore) store(obj *unstructured.Unstructured) {
	n, err := strconv.Atoi(s.obj.GetResourceVersion())
	if err != nil {
		s.t.Fatal(err)
	}
	obj.SetResourceVersion(strconv.Itoa(n + 1))
	s.obj = obj
}

// touch changes the object as another client does.
func (s *fakeStore) touch(change func(*unstructured.Unstructured)) {
	next := s.obj.DeepCopy()
	change(next)
	s.store(next)
}

func (s *fakeStore) prune(obj *unstructured.Unstructured) {
	status := statusOf(obj)
	for _, key := range s.drops {
		delete(status, key)
	}
	list, _ := status["conditions"].([]any)
	for _, entry := range list {
		for _, key := range s.dropsIn {
			delete(entry.(map[string]any), key)
		}
	}
}

// merge applies a JSON merge patch.
func merge(to, patch map[string]any) {
	for key, value := range patch {
		have, isMap := to[key].(map[string]any)
		want, wantMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(to, key)
		case wantMap:
			if !isMap {
				have = map[string]any{}
			}
			have = maps.Clone(have)
			merge(have, want)
			to[key] = have
		default:
			to[key] = value
		}
	}
}

func sample(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := map[string]any{}
	if err := utiljson.Unmarshal([]byte(text), &obj); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: obj}
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// failingStore answers every patch with an error.
type failingStore struct {
	*fakeStore
	err error
}

func (s *failingStore) Patch(context.Context, *unstructured.Unstructured, string, []byte) (*unstructured.Unstructured, error) {
	return nil, s.err
}
