package apirecord

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/client-go/kubernetes/scheme"
)

// TestDecodeCBOR reads answers as the API server writes them where CBOR is switched on, as in no control plane here.
func TestDecodeCBOR(t *testing.T) {
	codec := cbor.NewSerializer(scheme.Scheme, scheme.Scheme)
	encode := func(obj runtime.Object) []byte {
		var body bytes.Buffer
		if err := codec.Encode(obj, &body); err != nil {
			t.Fatal(err)
		}
		return body.Bytes()
	}
	want := metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "a", UID: "u", ResourceVersion: "5", OwnerReferences: []metav1.OwnerReference{{UID: "o", Controller: new(true)}}},
	}
	got, err := decodeObject(runtime.ContentTypeCBOR, encode(&corev1.ConfigMap{TypeMeta: want.TypeMeta, ObjectMeta: want.ObjectMeta, Data: map[string]string{"k": "v"}}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	status := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Code: 403, Message: "m", Details: &metav1.StatusDetails{UID: "u"}}
	read, err := decodeStatus(runtime.ContentTypeCBOR, encode(&status))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(status, read); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}
