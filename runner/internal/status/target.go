package status

import (
	"errors"
	"fmt"
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

// Of returns the status as we keep it: the object's own, or for a built-in kind that of the annotation. The map is
// the object's; nil means none.
func Of(obj *unstructured.Unstructured) map[string]any {
	if BuiltIn(obj.GroupVersionKind()) {
		return fromAnnotation(obj)
	}
	if status, ok := obj.Object["status"].(map[string]any); ok {
		return status
	}
	return fromAnnotation(obj)
}

// fromAnnotation reads the record. What we did not write counts as none.
func fromAnnotation(obj *unstructured.Unstructured) map[string]any {
	var status map[string]any
	if err := utiljson.Unmarshal([]byte(obj.GetAnnotations()[Annotation]), &status); err != nil {
		return nil
	}
	return status
}

// toAnnotation writes the record without what would make it too large.
func toAnnotation(status map[string]any) (string, error) {
	text, err := utiljson.Marshal(status)
	if err == nil && len(text) > maxAnnotation {
		small := clone(status)
		delete(small, "outputs")
		text, err = utiljson.Marshal(small)
	}
	if err != nil {
		return "", fmt.Errorf("encode the record of a run: %w", err)
	}
	if len(text) > maxAnnotation {
		return "", fmt.Errorf("encode the record of a run: it takes %d bytes, the limit is %d", len(text), maxAnnotation)
	}
	return string(text), nil
}
