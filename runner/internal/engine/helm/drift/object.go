package drift

import (
	"encoding/base64"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Object is an object of a manifest, made ready for being compared.
type Object struct {
	want   map[string]any
	schema schema
}

// known are the kinds whose Go types are built in. For all others lists can be compared by guess only.
var known = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // a programming error: the same types are registered in every process
		}
	}
	return s
}()

// New returns the wanted object of a manifest. Nothing of obj is kept or changed.
func New(obj *unstructured.Unstructured) *Object {
	o := &Object{want: obj.DeepCopy().Object}
	if typed, err := known.New(obj.GroupVersionKind()); err == nil {
		o.normalise(typed)
	}
	o.prune()
	return o
}

// normalise writes values as the API server does (quantities, Secrets' stringData), by way of the kind's Go type.
// Where the object does not fit its type the API server has to say so; here it is compared as it is.
func (o *Object) normalise(typed runtime.Object) {
	moveStringData(o.want)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.want, typed); err != nil {
		return
	}
	normal, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return
	}
	schema, err := schemaOf(typed)
	if err != nil {
		return
	}
	o.want, o.schema = fieldsOf(shaped(o.want, normal)), schema
}

// prune drops what a manifest cannot ask for: identity, status, and metadata beyond marks and owners.
func (o *Object) prune() {
	delete(o.want, "apiVersion")
	delete(o.want, "kind")
	delete(o.want, "status")
	metadata, _ := o.want["metadata"].(map[string]any)
	for key := range metadata {
		switch key {
		case "labels", "annotations", "ownerReferences":
		default:
			delete(metadata, key)
		}
	}
}

// moveStringData does what the API server does with a Secret's stringData.
func moveStringData(obj map[string]any) {
	if obj["kind"] != "Secret" || obj["apiVersion"] != "v1" {
		return
	}
	plain, _ := obj["stringData"].(map[string]any)
	if len(plain) == 0 {
		return
	}
	data, _ := obj["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
		obj["data"] = data
	}
	for key, value := range plain {
		if text, ok := value.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	delete(obj, "stringData")
}

// shaped returns normal with just the fields that raw has: a Go type adds empty ones, and leaves explicit zeros out.
// What raw has and the type does not know is dropped, as the API server drops it.
func shaped(raw, normal any) any {
	switch normal := normal.(type) {
	case map[string]any:
		raw, ok := raw.(map[string]any)
		if !ok {
			return normal
		}
		out := map[string]any{}
		for key, value := range raw {
			if present, ok := normal[key]; ok {
				out[key] = shaped(value, present)
			} else if isZero(value) {
				out[key] = value
			}
		}
		return out
	case []any:
		raw, ok := raw.([]any)
		if !ok || len(raw) != len(normal) {
			return normal
		}
		out := make([]any, len(normal))
		for i := range normal {
			out[i] = shaped(raw[i], normal[i])
		}
		return out
	default:
		return normal
	}
}

// isZero reports whether v is the zero value of a scalar.
func isZero(v any) bool {
	switch v := v.(type) {
	case bool:
		return !v
	case string:
		return v == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}
