package status

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Annotation holds the record of resources that have no status of their own for us to write.
const Annotation = "chartbook.dev/status"

// maxAnnotation bounds the record in an annotation, in bytes. All annotations of an object share 256 KiB.
const maxAnnotation = 16 << 10

// ErrNoStatusSubresource says that a kind has no status subresource, so that the record went to [Annotation].
var ErrNoStatusSubresource = errors.New("the kind has no status subresource, so its record is kept in the annotation " + Annotation)

// BuiltIn reports whether a kind comes with Kubernetes: then its status belongs to another controller.
func BuiltIn(gvk schema.GroupVersionKind) bool {
	return !strings.Contains(gvk.Group, ".") || strings.HasSuffix(gvk.Group, ".k8s.io")
}

// Of returns the status as we keep it: the object's own if it has our marks, else the record in the annotation if there
// is one. The map is the object's; nil means none.
func Of(obj *unstructured.Unstructured) map[string]any {
	record := fromAnnotation(obj)
	status := statusOf(obj)
	if BuiltIn(obj.GroupVersionKind()) || record != nil && !marked(status) {
		return record
	}
	return status
}

// marked says that a status was written by us.
func marked(status map[string]any) bool { return !reflect.DeepEqual(Read(status), Record{}) }

// fromAnnotation reads the record. What we did not write counts as none.
func fromAnnotation(obj *unstructured.Unstructured) map[string]any {
	var status map[string]any
	if err := utiljson.Unmarshal([]byte(obj.GetAnnotations()[Annotation]), &status); err != nil {
		return nil
	}
	return status
}

// bound leaves out what would make a record too large for an annotation.
func bound(status map[string]any) (map[string]any, error) {
	text, err := utiljson.Marshal(status)
	if err == nil && len(text) > maxAnnotation {
		status = maps.Clone(status)
		delete(status, "outputs")
		text, err = utiljson.Marshal(status)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the record of a run: %w", err)
	}
	if len(text) > maxAnnotation {
		return nil, fmt.Errorf("encode the record of a run: it takes %d bytes, the limit is %d", len(text), maxAnnotation)
	}
	return status, nil
}
