package dependents

import (
	"encoding/json"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// made is a child as a run of App x left it, with what the API server and a controller added.
const made = `{
	"apiVersion": "v1", "kind": "Thing",
	"metadata": {
		"name": "c", "namespace": "a", "uid": "c1", "resourceVersion": "7", "generation": 1,
		"ownerReferences": [{"apiVersion": "example.com/v1", "kind": "App", "name": "x", "uid": "u"}],
		"labels": {"app": "x", "foreign": "y"},
		"annotations": {"note": "ours", "deployment.kubernetes.io/revision": "1"},
		"managedFields": [
			{"manager": "play", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsV1": {
				"f:metadata": {
					"f:ownerReferences": {".": {}, "k:{\"uid\":\"u\"}": {}},
					"f:labels": {".": {}, "f:app": {}},
					"f:annotations": {".": {}, "f:note": {}}
				},
				"f:spec": {"f:size": {}, "f:ports": {".": {}, "k:{\"port\":80}": {".": {}, "f:port": {}, "f:name": {}}}}
			}},
			{"manager": "controller", "operation": "Update", "apiVersion": "v1", "subresource": "status", "fieldsV1": {
				"f:metadata": {"f:annotations": {"f:deployment.kubernetes.io/revision": {}}},
				"f:spec": {"f:volume": {}},
				"f:status": {"f:ready": {}}
			}}
		]
	},
	"spec": {"size": 1, "volume": "v", "ports": [{"port": 80, "name": "web"}]},
	"status": {"ready": false}
}`

func TestDigest(t *testing.T) {
	type path = []string
	foreign := path{"metadata", "managedFields"}
	for _, tc := range []struct {
		why     string
		without path // taken from the object before it is looked at
		set     path
		to      any // nil removes
		changed bool
	}{
		{why: "what the run set", set: path{"spec", "size"}, to: int64(2), changed: true},
		{why: "what the run set is gone", set: path{"spec", "size"}, changed: true},
		{why: "a label of the run", set: path{"metadata", "labels", "app"}, to: "z", changed: true},
		{why: "an annotation of the run", set: path{"metadata", "annotations", "note"}, to: "z", changed: true},
		{why: "an item of a list is gone", set: path{"spec", "ports"}, to: []any{}, changed: true},
		{why: "a field in an item of a list", set: path{"spec", "ports"}, to: []any{map[string]any{"port": int64(80), "name": "z"}}, changed: true},
		{why: "the order of items, and an item of somebody else", set: path{"spec", "ports"}, to: []any{map[string]any{"port": int64(81)}, map[string]any{"port": int64(80), "name": "web"}}},
		{why: "a field of somebody else in an item", set: path{"spec", "ports"}, to: []any{map[string]any{"port": int64(80), "name": "web", "nodePort": int64(30000)}}},
		{why: "the status", set: path{"status", "ready"}, to: true},
		{why: "the version of the object", set: path{"metadata", "resourceVersion"}, to: "8"},
		{why: "a label of somebody else (D6)", set: path{"metadata", "labels", "foreign"}, to: "z"},
		{why: "a new label", set: path{"metadata", "labels", "new"}, to: "z"},
		{why: "an annotation that a controller writes (D6)", set: path{"metadata", "annotations", "deployment.kubernetes.io/revision"}, to: "2"},
		{why: "a field that a controller filled in", set: path{"spec", "volume"}, to: "w"},
		{why: "a finalizer", set: path{"metadata", "finalizers"}, to: []any{"kubernetes.io/pvc-protection"}},
		{why: "the times in managedFields", set: path{"metadata", "managedFields"}, to: laterFields()},

		{why: "without managedFields: the spec", without: foreign, set: path{"spec", "volume"}, to: "w", changed: true},
		{why: "without managedFields: the number of replicas", without: foreign, set: path{"spec", "replicas"}, to: int64(2), changed: true},
		{why: "without managedFields: any label", without: foreign, set: path{"metadata", "labels", "new"}, to: "z", changed: true},
		{why: "without managedFields: any annotation", without: foreign, set: path{"metadata", "annotations", "new"}, to: "z", changed: true},
		{why: "without managedFields: but not one of Kubernetes' own", without: foreign, set: path{"metadata", "annotations", "deployment.kubernetes.io/revision"}, to: "2"},
		{why: "without managedFields: nor the status", without: foreign, set: path{"status", "ready"}, to: true},
		{why: "without managedFields: nor a finalizer", without: foreign, set: path{"metadata", "finalizers"}, to: []any{"f"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			before := parse(t, made)
			if tc.without != nil {
				unstructured.RemoveNestedField(before.Object, tc.without...)
			}
			after := before.DeepCopy()
			if tc.to == nil {
				unstructured.RemoveNestedField(after.Object, tc.set...)
			} else if err := unstructured.SetNestedField(after.Object, tc.to, tc.set...); err != nil {
				t.Fatal(err)
			}
			primaries := []*Primary{{GVK: appGVK}}
			if got := !newRecord(after, primaries).applied.same(newRecord(before, primaries).applied); got != tc.changed {
				t.Errorf("it is a change: %v, want %v", got, tc.changed)
			}
		})
	}
}

// laterFields are the managedFields of made, in another order and of another time.
func laterFields() []any {
	var obj map[string]any
	if err := json.Unmarshal([]byte(made), &obj); err != nil {
		panic(err)
	}
	entries, _, _ := unstructured.NestedSlice(obj, "metadata", "managedFields")
	entries[0].(map[string]any)["time"] = "2026-01-02T00:00:00Z"
	return []any{entries[1], entries[0]}
}

// TestDigestOfTakenOverField covers an edit by hand: the field changes hands and value at once.
func TestDigestOfTakenOverField(t *testing.T) {
	before := parse(t, made)
	after := before.DeepCopy()
	fields := after.Object["metadata"].(map[string]any)["managedFields"].([]any)
	play := fields[0].(map[string]any)["fieldsV1"].(map[string]any)
	unstructured.RemoveNestedField(play, "f:spec", "f:size")
	if err := unstructured.SetNestedField(after.Object, int64(9), "spec", "size"); err != nil {
		t.Fatal(err)
	}
	primaries := []*Primary{{GVK: appGVK}}
	if newRecord(after, primaries).applied.same(newRecord(before, primaries).applied) {
		t.Error("an edit by hand leaves the digest as it was")
	}
}

// TestDigestOfAdoptedChild covers a reference that was put on by hand: who did that set nothing else, so that
// what they set must not be mistaken for all that counts.
func TestDigestOfAdoptedChild(t *testing.T) {
	for _, mark := range []string{
		`{"f:ownerReferences": {".": {}, "k:{\"uid\":\"u\"}": {}}}`,
		`{"f:annotations": {"f:operator-sdk/primary-resource": {}, "f:operator-sdk/primary-resource-type": {}}}`,
	} {
		before := parse(t, `{"apiVersion": "v1", "kind": "Thing", "metadata": {
			"name": "c", "namespace": "a", "uid": "c1",
			"ownerReferences": [{"apiVersion": "example.com/v1", "kind": "App", "name": "x", "uid": "u"}],
			"annotations": {"operator-sdk/primary-resource": "a/x", "operator-sdk/primary-resource-type": "App.example.com"},
			"managedFields": [{"manager": "kubectl-patch", "operation": "Update", "fieldsV1": {"f:metadata": `+mark+`}}]
		}, "data": {"k": "v"}}`)
		after := before.DeepCopy()
		if err := unstructured.SetNestedField(after.Object, "w", "data", "k"); err != nil {
			t.Fatal(err)
		}
		primaries := []*Primary{{GVK: appGVK}}
		if newRecord(after, primaries).applied.same(newRecord(before, primaries).applied) {
			t.Errorf("an edit of an adopted child (%s) leaves the digest as it was", mark)
		}
	}
}

// TestReplicas covers the number of replicas, which the API server's default makes ours even if no play set it, and which
// an autoscaler then takes over.
func TestReplicas(t *testing.T) {
	const object = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
		"name": "c", "namespace": "a", "uid": "c1",
		"ownerReferences": [{"apiVersion": "example.com/v1", "kind": "App", "name": "x", "uid": "u"}],
		"managedFields": [
			{"manager": "play", "operation": "Update", "fieldsV1": {
				"f:metadata": {"f:ownerReferences": {"k:{\"uid\":\"u\"}": {}}}, "f:spec": {"f:paused": {} %s}}},
			%s
		]}, "spec": {"paused": false, "replicas": %d}}`
	scaledBy := func(manager, subresource string) string {
		return fmt.Sprintf(`{"manager": %q, "operation": "Update", "subresource": %q, "fieldsV1": {"f:spec": {"f:replicas": {}}}}`, manager, subresource)
	}
	const ours, nobody = `, "f:replicas": {}`, `{"manager": "none", "fieldsV1": {}}`
	for _, tc := range []struct {
		why           string
		before, after string
		changed       bool
	}{
		{
			why:    "the HorizontalPodAutoscaler takes the number over",
			before: fmt.Sprintf(object, ours, nobody, 1),
			after:  fmt.Sprintf(object, "", scaledBy("kube-controller-manager", "scale"), 3),
		},
		{
			why:    "and scales again",
			before: fmt.Sprintf(object, "", scaledBy("kube-controller-manager", "scale"), 3),
			after:  fmt.Sprintf(object, "", scaledBy("kube-controller-manager", "scale"), 5),
		},
		{
			why:     "somebody scales by hand",
			before:  fmt.Sprintf(object, ours, nobody, 1),
			after:   fmt.Sprintf(object, "", scaledBy("kubectl", "scale"), 3),
			changed: true,
		},
		{
			why:     "a controller of Kubernetes sets the number in another way",
			before:  fmt.Sprintf(object, ours, nobody, 1),
			after:   fmt.Sprintf(object, "", scaledBy("kube-controller-manager", ""), 3),
			changed: true,
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			primaries := []*Primary{{GVK: appGVK}}
			before, after := newRecord(parse(t, tc.before), primaries), newRecord(parse(t, tc.after), primaries)
			if got := !after.applied.same(before.applied); got != tc.changed {
				t.Errorf("it is a change: %v, want %v", got, tc.changed)
			}
		})
	}
}

// FuzzRecord reduces arbitrary objects: whatever somebody writes into managedFields must do no harm.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(made))
	f.Add([]byte(`{"metadata": {"managedFields": [null, {"manager": 1, "fieldsV1": {"f:metadata": []}}], "ownerReferences": [1]}}`))
	f.Add([]byte(`{"metadata": {"ownerReferences": [{"apiVersion": "example.com/v1", "kind": "App", "name": "x", "uid": "u"}],
		"managedFields": [{"manager": "m", "fieldsV1": {"f:metadata": {"f:labels": null, "f:ownerReferences": {"k:{\"uid\":\"u\"}": 1}}, "f:spec": 3}}]}, "spec": {"a": 1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		obj := &unstructured.Unstructured{}
		if err := json.Unmarshal(data, &obj.Object); err != nil || obj.Object == nil {
			t.Skip()
		}
		primaries := []*Primary{{GVK: appGVK}, {GVK: siteGVK, ClusterScoped: true}}
		before, err := json.Marshal(obj.Object)
		if err != nil {
			t.Fatal(err)
		}
		first, second := newRecord(obj, primaries), newRecord(obj.DeepCopy(), primaries)
		if first.applied != second.applied {
			t.Error("the digest of one object differs from call to call")
		}
		if after, err := json.Marshal(obj.Object); err != nil || string(after) != string(before) {
			t.Error("looking at an object changed it")
		}
	})
}
