package helm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func TestNormalise(t *testing.T) {
	const plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {n: '5'}\n"
	tests := []struct {
		why, a, b string
		same      bool
	}{
		{"the same", plain, plain, true},
		{"another order of documents, and empty ones", plain + "---\n---\nkind: S\nmetadata: {name: b}\n", "kind: S\nmetadata: {name: b}\n---\n" + plain, true},
		{"owners, namespace and marks of the operators before", plain,
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns, creationTimestamp: null, ownerReferences: [{uid: x}], " +
				"labels: {" + chartLabel + ": c}, annotations: {" + primaryAnnotation + ": o, " + primaryTypeAnnotation + ": t}}\ndata: {n: '5'}\n", true},
		{"another namespace is another object", plain, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: other}\ndata: {n: '5'}\n", false},
		{"overrides used to be strings", plain, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {n: 5}\n", true},
		{"a list of objects is its objects", plain, "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {n: '5'}}]\n", true},
		{"empty and null are absent", plain, plain + "binaryData: {}\nimmutable: null\n", true},
		{"another value", plain, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {n: '6'}\n", false},
		{"another label", plain, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {l: l}}\ndata: {n: '5'}\n", false},
		{"one object more", plain, plain + "---\nkind: S\nmetadata: {name: b}\n", false},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			a, err := normalise(test.a, "ns")
			if err != nil {
				t.Fatal(err)
			}
			b, err := normalise(test.b, "ns")
			if err != nil {
				t.Fatal(err)
			}
			if got := differences(a, b); (len(got) == 0) != test.same {
				t.Errorf("differences are %v", got)
			}
		})
	}
}

func TestMarks(t *testing.T) {
	controller := metav1.OwnerReference{Kind: "Boss", UID: "boss", Controller: new(bool)}
	*controller.Controller = true
	clusterOwner := testOwner
	clusterOwner.Namespace = ""
	tests := []struct {
		why        string
		marks      marks
		manifest   string
		namespaced bool
		owners     []string // uid, with * for the controller
		annotated  bool
	}{
		{"an object beside its owner", marks{owner: testOwner}, "metadata: {namespace: ns}", true, []string{"uid-1*"}, false},
		{"an object of another namespace", marks{owner: testOwner}, "metadata: {namespace: other}", true, nil, true},
		{"an object of no namespace", marks{owner: testOwner}, "metadata: {name: a}", false, nil, true},
		{"an object that is to be kept", marks{owner: testOwner}, "metadata: {namespace: ns, annotations: {helm.sh/resource-policy: ' Keep '}}", true, nil, true},
		{"another policy is none", marks{owner: testOwner}, "metadata: {namespace: ns, annotations: {helm.sh/resource-policy: delete}}", true, []string{"uid-1*"}, false},
		{"a cluster-scoped owner may own everything", marks{owner: clusterOwner}, "metadata: {namespace: any}", true, []string{"uid-1*"}, false},
		{"owners of the template stay", marks{owner: testOwner}, "metadata: {namespace: ns, ownerReferences: [{uid: other}]}", true, []string{"other", "uid-1*"}, false},
		{"there is one controller at most", marks{owner: testOwner}, "metadata: {namespace: ns, ownerReferences: [{uid: boss, controller: true}]}", true, []string{"boss*", "uid-1"}, false},
		{"the owner is named once", marks{owner: testOwner}, "metadata: {namespace: ns, ownerReferences: [{uid: uid-1}]}", true, []string{"uid-1*"}, false},
		{"no owner where that is configured", marks{owner: testOwner, none: true}, "metadata: {namespace: ns}", true, nil, false},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			obj := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(test.manifest), &obj.Object); err != nil {
				t.Fatal(err)
			}
			test.marks.put(obj, test.namespaced)
			test.marks.put(obj, test.namespaced)
			var owners []string
			for _, ref := range obj.GetOwnerReferences() {
				name := string(ref.UID)
				if ref.Controller != nil && *ref.Controller {
					name += "*"
				}
				owners = append(owners, name)
			}
			if diff := cmp.Diff(test.owners, owners); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
			if _, got := obj.GetAnnotations()[primaryAnnotation]; got != test.annotated {
				t.Errorf("annotated: %v, want %v", got, test.annotated)
			}
		})
	}
}

func TestPrimaryTypeIsThatOfTheOwner(t *testing.T) {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	marks{owner: engine.Owner{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "x"}}.put(obj, false)
	want := map[string]string{primaryAnnotation: "ns/x", primaryTypeAnnotation: "ConfigMap"}
	if diff := cmp.Diff(want, obj.GetAnnotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestLabelValue(t *testing.T) {
	long := "a-chart-with-a-name-that-is-much-longer-than-a-label-value-may-be-in-kubernetes"
	if got := labelValue(long); len(got) > maxLabel || got != "a-chart-with-a-name-that-is-much-longer-than-a-label-value-may" {
		t.Errorf("label is %q", got)
	}
}
