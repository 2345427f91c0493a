package apirecord

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// FuzzAnswer reads arbitrary answers: whatever a broken aggregated API sends must do no harm.
func FuzzAnswer(f *testing.F) {
	encoder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	object, err := runtime.Encode(encoder, &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: "s", UID: "u", ResourceVersion: "1"},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(runtime.ContentTypeProtobuf, object)
	f.Add(runtime.ContentTypeProtobuf, []byte("k8s\x00"))
	f.Add(runtime.ContentTypeJSON, []byte(`{"kind":"Status","apiVersion":"v1","details":null}`))
	f.Add(runtime.ContentTypeJSON, []byte(`{"metadata":[]}`))
	f.Add(runtime.ContentTypeYAML, []byte("metadata: {uid: u}"))
	f.Add(runtime.ContentTypeCBOR, []byte("\xd9\xd9\xf7\xa0"))
	f.Add(";;", []byte(nil))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		var recorder Recorder
		req := Request{Verb: http.MethodPatch}
		recorder.noteObject(Request{Verb: "patch", Name: "n"}, contentType, body)
		recorder.noteRefusal(req, contentType, body)
		if got := len(recorder.Writes()); got != 1 {
			t.Errorf("%d writes for one answer", got)
		}
	})
}
