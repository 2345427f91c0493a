package helm

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A controller may write an object's status between a look at it and a patch that changes nothing.
func TestSameContent(t *testing.T) {
	object := func(version, policy, status string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "one", "resourceVersion": version, "managedFields": []any{map[string]any{"time": version}}},
			"spec":     map[string]any{"podManagementPolicy": policy}, "status": map[string]any{"phase": status},
		}}
	}
	before := object("1", "OrderedReady", "")
	if !sameContent(before, object("2", "OrderedReady", "ready")) {
		t.Error("a status counts as content")
	}
	if sameContent(before, object("2", "Parallel", "")) {
		t.Error("another spec counts as the same")
	}
}
