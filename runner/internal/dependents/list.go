package dependents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

var errNoList = errors.New("not a list of objects")

// list lists objects and returns their records. One object at a time is held, however many the API server puts into
// one answer: with resourceVersion=0, which the reflector asks for, older ones put all into one whatever the limit.
func (s *stream) list(ctx context.Context, namespace string, resource schema.GroupVersionResource, options metav1.ListOptions) (runtime.Object, error) {
	body, err := s.registry.rest.Get().AbsPath(pathOf(namespace, resource)...).
		VersionedParams(&options, metav1.ParameterCodec).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var list metav1.List
	list.ListMeta, err = readList(body, func(object map[string]any) {
		record := s.reduce(&unstructured.Unstructured{Object: object})
		list.Items = append(list.Items, runtime.RawExtension{Object: record})
	})
	if err != nil {
		return nil, fmt.Errorf("read a list of %s: %w", resource.Resource, err)
	}
	return &list, nil
}

func pathOf(namespace string, resource schema.GroupVersionResource) []string {
	path := []string{"/apis", resource.Group, resource.Version}
	if resource.Group == "" {
		path = []string{"/api", resource.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, resource.Resource)
}

// readList reads a list in JSON and hands over its items one by one.
func readList(body io.Reader, each func(object map[string]any)) (metav1.ListMeta, error) {
	var listMeta metav1.ListMeta
	decoder := json.NewDecoder(body)
	if err := expect(decoder, json.Delim('{')); err != nil {
		return listMeta, err
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return listMeta, err
		}
		switch key {
		case "metadata":
			err = decoder.Decode(&listMeta)
		case "items":
			err = readItems(decoder, each)
		default:
			err = decoder.Decode(new(json.RawMessage))
		}
		if err != nil {
			return listMeta, err
		}
	}
	return listMeta, expect(decoder, json.Delim('}'))
}

func readItems(decoder *json.Decoder, each func(map[string]any)) error {
	token, err := decoder.Token()
	if err != nil || token == nil { // null is a list without items
		return err
	}
	if token != json.Delim('[') {
		return errNoList
	}
	var raw json.RawMessage
	for decoder.More() {
		if err := decoder.Decode(&raw); err != nil {
			return err
		}
		// Not by the decoder itself: a digest has to find the same types of numbers here as in watch events.
		var object map[string]any
		if err := utiljson.Unmarshal(raw, &object); err != nil {
			return err
		}
		if object == nil {
			return errNoList
		}
		each(object)
	}
	return expect(decoder, json.Delim(']'))
}

func expect(decoder *json.Decoder, want json.Token) error {
	token, err := decoder.Token()
	switch {
	case err != nil:
		return err
	case token != want:
		return errNoList
	}
	return nil
}
