package related

import (
	"encoding/base64"
	"maps"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

var (
	secretKind    = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// lastApplied repeats the whole object, secrets included.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// object returns an object as a run sees it: without what is bookkeeping of the API server or kubectl.
func object(obj *unstructured.Unstructured) map[string]any {
	shown := obj.DeepCopy()
	unstructured.RemoveNestedField(shown.Object, "metadata", "managedFields")
	unstructured.RemoveNestedField(shown.Object, "metadata", "annotations", lastApplied)
	return shown.Object
}

// objects returns a list of objects as a run sees it.
func objects(list []*unstructured.Unstructured) []any {
	out := make([]any, len(list))
	for i, obj := range list {
		out[i] = object(obj)
	}
	return out
}

// dataOf returns what a Secret or ConfigMap holds. Of a Secret it is decoded.
func dataOf(obj *unstructured.Unstructured) map[string]string {
	data, _, _ := unstructured.NestedStringMap(obj.Object, "data")
	if obj.GetKind() != secretKind.Kind {
		return data
	}
	decoded := make(map[string]string, len(data))
	for key, value := range data {
		if raw, err := base64.StdEncoding.DecodeString(value); err == nil { // the API server takes nothing else
			decoded[key] = string(raw)
		}
	}
	return decoded
}

// learnSecret makes the values of a Secret known to the redactor.
func learnSecret(obj *unstructured.Unstructured, learn func(...[]byte)) {
	if obj.GroupVersionKind() != secretKind {
		return
	}
	data := dataOf(obj)
	for _, key := range slices.Sorted(maps.Keys(data)) {
		learn([]byte(data[key]))
	}
}

// whole returns all keys of a Secret or ConfigMap but those that are no text.
func whole(obj *unstructured.Unstructured) map[string]any {
	out := map[string]any{}
	for key, value := range dataOf(obj) {
		if utf8.ValidString(value) {
			out[key] = value
		}
	}
	return out
}

// document reads values from YAML. The parser's own words are left out of the error, since they may quote a secret.
func document(text string) (map[string]any, bool) {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, false
	}
	var values map[string]any
	if err := json.Unmarshal(data, &values); err != nil { // keeps integers
		return nil, false
	}
	return values, true
}

// valueOf returns what a source gives from the object it names, and whether all of it is there.
func valueOf(s watches.Source, obj *unstructured.Unstructured, key string) (value any, there bool, refusal *input.Refusal) {
	if s.Key.IsZero() {
		return whole(obj), true, nil
	}
	text, there := dataOf(obj)[key]
	switch {
	case !there:
		return nil, false, nil
	case !utf8.ValidString(text):
		return nil, false, refuse(ReasonInvalidReference, s.Key, "key %s of %s %s is no text", shorten(key), obj.GetKind(), obj.GetName())
	case s.As != "" || s.TargetPath != nil:
		return text, true, nil
	}
	values, ok := document(text)
	if !ok {
		return nil, false, refuse(ReasonInvalidReference, s.Key, "key %s of %s %s is no YAML mapping", shorten(key), obj.GetKind(), obj.GetName())
	}
	return values, true, nil
}
