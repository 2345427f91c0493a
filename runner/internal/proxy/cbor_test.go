package proxy

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/client-go/kubernetes/scheme"
)

// TestEncodeCBOR marks what clients send as the API server reads it. No control plane here has CBOR switched on, so its
// own serializer stands for it.
func TestEncodeCBOR(t *testing.T) {
	codec := cbor.NewSerializer(scheme.Scheme, scheme.Scheme)
	typed := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: "s", Annotations: map[string]string{"k": "v"}, OwnerReferences: []metav1.OwnerReference{{UID: "v"}}},
		Data:       map[string][]byte{"k": {0, 0xff, 'x'}},
	}
	dynamic := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": "s", "annotations": map[string]any{"k": "v"}, "ownerReferences": []any{map[string]any{"apiVersion": "", "kind": "", "name": "", "uid": "v"}}},
		"data":     map[string]any{"k": "AP94"},
	}}
	ours := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "App", Name: "x", UID: "u"}
	for _, tc := range []struct {
		why, contentType string
		obj              runtime.Object
		mark             mark
		want             func(*corev1.Secret)
	}{
		{why: "a typed client creates", contentType: "application/cbor", obj: typed, mark: sessionOf(namespacedOwner).mark("a"), want: func(s *corev1.Secret) { s.OwnerReferences = append(s.OwnerReferences, ours) }},
		{why: "a dynamic client creates", contentType: "application/cbor", obj: dynamic, mark: sessionOf(namespacedOwner).mark("a"), want: func(s *corev1.Secret) { s.OwnerReferences = append(s.OwnerReferences, ours) }},
		{why: "a client applies", contentType: "application/apply-patch+cbor", obj: dynamic, mark: sessionOf(namespacedOwner).mark("a"), want: func(s *corev1.Secret) { s.OwnerReferences = append(s.OwnerReferences, ours) }},
		{why: "in another namespace", contentType: "application/cbor", obj: typed, mark: sessionOf(namespacedOwner).mark("b"), want: func(s *corev1.Secret) {
			s.Annotations["operator-sdk/primary-resource"] = "a/x"
			s.Annotations["operator-sdk/primary-resource-type"] = "App.example.com"
		}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var body bytes.Buffer
			if err := codec.Encode(tc.obj, &body); err != nil {
				t.Fatal(err)
			}
			marked, err := tc.mark.encode(tc.contentType, body.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			twice, err := tc.mark.encode(tc.contentType, marked)
			if err != nil || !bytes.Equal(marked, twice) {
				t.Errorf("to mark it twice makes another body of it (%v)", err)
			}
			if recognized, _, _ := codec.RecognizesData(marked); !recognized {
				t.Error("the body no longer says that it is CBOR")
			}
			var got corev1.Secret
			if _, _, err := codec.Decode(marked, nil, &got); err != nil {
				t.Fatal(err)
			}
			want := typed.DeepCopy()
			tc.want(want)
			if diff := cmp.Diff(want, &got); diff != "" {
				t.Errorf("the API server would read (-want +got):\n%s", diff)
			}
			metadata, err := metadataIn(tc.contentType, marked)
			if err != nil || !tc.mark.on(metadata) {
				t.Errorf("the metadata %v (%v) is without the mark", metadata, err)
			}
		})
	}
	for _, body := range []string{"", "\xff", "\xf6", "\x80"} { // nothing, broken, null, a list
		if got, err := sessionOf(namespacedOwner).mark("a").encode("application/cbor", []byte(body)); err == nil {
			t.Errorf("%q was turned into %q, want it left alone", body, got)
		}
	}
}

// TestSecretsInCBOR learns from what clients send.
func TestSecretsInCBOR(t *testing.T) {
	codec := cbor.NewSerializer(scheme.Scheme, scheme.Scheme)
	list := &corev1.SecretList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}, Items: []corev1.Secret{{Data: map[string][]byte{"k": []byte("one")}}}}
	var body bytes.Buffer
	if err := codec.Encode(list, &body); err != nil {
		t.Fatal(err)
	}
	got, err := secretsIn("application/cbor", body.Bytes())
	if err != nil || len(got) != 1 {
		t.Fatalf("%v (%v) are found, want one Secret", got, err)
	}
	if diff := cmp.Diff(map[string]any{"k": "b25l"}, got[0]["data"]); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}
