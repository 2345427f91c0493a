package proxy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func sessionOf(owner engine.Owner) *Session {
	return &Session{owner: owner, primary: schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)}
}

var (
	namespacedOwner = engine.Owner{APIVersion: "example.com/v1", Kind: "App", Namespace: "a", Name: "x", UID: "u"}
	clusterOwner    = engine.Owner{APIVersion: "example.com/v1", Kind: "Site", Name: "x", UID: "u"}
	coreOwner       = engine.Owner{APIVersion: "v1", Kind: "Secret", Namespace: "a", Name: "x", UID: "u"}
)

// TestMark has the four combinations of scopes (D2), and an owner of the core group.
func TestMark(t *testing.T) {
	reference := func(o engine.Owner) mark {
		return mark{reference: &metav1.OwnerReference{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID}}
	}
	annotations := func(name, kind string) mark {
		return mark{annotations: map[string]string{"operator-sdk/primary-resource": name, "operator-sdk/primary-resource-type": kind}}
	}
	for _, tc := range []struct {
		why       string
		owner     engine.Owner
		namespace string
		want      mark
	}{
		{why: "same namespace", owner: namespacedOwner, namespace: "a", want: reference(namespacedOwner)},
		{why: "other namespace", owner: namespacedOwner, namespace: "b", want: annotations("a/x", "App.example.com")},
		{why: "a cluster-scoped child of a namespaced owner", owner: namespacedOwner, want: annotations("a/x", "App.example.com")},
		{why: "a namespaced child of a cluster-scoped owner", owner: clusterOwner, namespace: "a", want: reference(clusterOwner)},
		{why: "both cluster-scoped", owner: clusterOwner, want: reference(clusterOwner)},
		{why: "an owner of the core group", owner: coreOwner, namespace: "b", want: annotations("a/x", "Secret")},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, sessionOf(tc.owner).mark(tc.namespace), cmp.AllowUnexported(mark{})); diff != "" {
				t.Errorf("mark (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEncodeJSON(t *testing.T) {
	const ref = `{"apiVersion":"example.com/v1","kind":"App","name":"x","uid":"u"}`
	reference, annotated := sessionOf(namespacedOwner).mark("a"), sessionOf(namespacedOwner).mark("b")
	for _, tc := range []struct {
		why  string
		mark mark
		body string
		want string // empty: not touched
	}{
		{
			why: "metadata is there", mark: reference,
			body: `{"kind":"ConfigMap","metadata":{"name":"c"}}`,
			want: `{"kind":"ConfigMap","metadata":{"name":"c","ownerReferences":[` + ref + `]}}`,
		},
		{why: "metadata is missing", mark: reference, body: `{}`, want: `{"metadata":{"ownerReferences":[` + ref + `]}}`},
		{why: "metadata is null", mark: reference, body: `{"metadata":null}`, want: `{"metadata":{"ownerReferences":[` + ref + `]}}`},
		{
			why: "another owner stays", mark: reference,
			body: `{"metadata":{"ownerReferences":[{"uid":"v"}]}}`,
			want: `{"metadata":{"ownerReferences":[{"uid":"v"},` + ref + `]}}`,
		},
		{
			why: "an owner that the template names already is not named twice (C12)", mark: reference,
			body: `{"metadata":{"ownerReferences":[{"uid":"u","controller":true}]}}`,
			want: `{"metadata":{"ownerReferences":[{"controller":true,"uid":"u"}]}}`,
		},
		{
			why: "annotations beside those that are there", mark: annotated,
			body: `{"metadata":{"annotations":{"k":"v","operator-sdk/primary-resource":"old"}}}`,
			want: `{"metadata":{"annotations":{"k":"v","operator-sdk/primary-resource":"a/x","operator-sdk/primary-resource-type":"App.example.com"}}}`,
		},
		{
			why: "numbers pass as they were written, characters too", mark: reference,
			body: `{"n":12345678901234567890123,"f":1.10,"s":"<&>ä"}`,
			want: `{"f":1.10,"metadata":{"ownerReferences":[` + ref + `]},"n":12345678901234567890123,"s":"<&>ä"}`,
		},
		{why: "no object", mark: reference, body: `[1]`},
		{why: "null", mark: reference, body: `null`},
		{why: "broken", mark: reference, body: `{"metadata":`},
		{why: "more than one", mark: reference, body: `{} {}`},
		{why: "metadata of another type", mark: reference, body: `{"metadata":"x"}`},
		{why: "references of another type", mark: reference, body: `{"metadata":{"ownerReferences":{}}}`},
		{why: "annotations of another type", mark: annotated, body: `{"metadata":{"annotations":[]}}`},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, err := tc.mark.encode("application/json; charset=utf-8", []byte(tc.body))
			if tc.want == "" {
				if err == nil {
					t.Errorf("the body was turned into %s, want it left alone", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, strings.TrimSpace(string(got))); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEncodeYAML(t *testing.T) {
	got, err := sessionOf(namespacedOwner).mark("a").encode("application/yaml", []byte("metadata:\n  name: c\ndata:\n  big: 9007199254740993\n"))
	if err != nil {
		t.Fatal(err)
	}
	var obj struct {
		Metadata metav1.ObjectMeta
		Data     map[string]json.Number
	}
	if err := yaml.Unmarshal(got, &obj); err != nil {
		t.Fatal(err)
	}
	if len(obj.Metadata.OwnerReferences) != 1 || obj.Metadata.Name != "c" || obj.Data["big"] != "9007199254740993" {
		t.Errorf("body is %s, want the object with its owner", got)
	}
}

func TestEncodeProtobuf(t *testing.T) {
	codec := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: "s", Annotations: map[string]string{"k": "v"}, OwnerReferences: []metav1.OwnerReference{{UID: "v"}}},
		Data:       map[string][]byte{"k": []byte("v")},
	}
	for _, tc := range []struct {
		why  string
		mark mark
		have []metav1.OwnerReference
		want func(*corev1.Secret)
	}{
		{
			why: "a reference beside another one", mark: sessionOf(namespacedOwner).mark("a"),
			want: func(s *corev1.Secret) {
				s.OwnerReferences = append(s.OwnerReferences, metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "App", Name: "x", UID: "u"})
			},
		},
		{
			why: "a reference that is there", mark: sessionOf(namespacedOwner).mark("a"),
			have: []metav1.OwnerReference{{UID: "u"}},
			want: func(*corev1.Secret) {},
		},
		{
			why: "annotations beside another one", mark: sessionOf(namespacedOwner).mark("b"),
			want: func(s *corev1.Secret) {
				s.Annotations["operator-sdk/primary-resource"] = "a/x"
				s.Annotations["operator-sdk/primary-resource-type"] = "App.example.com"
			},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			sent, want := secret.DeepCopy(), secret.DeepCopy()
			if tc.have != nil {
				sent.OwnerReferences, want.OwnerReferences = tc.have, tc.have
			}
			tc.want(want)
			body, err := runtime.Encode(codec, sent)
			if err != nil {
				t.Fatal(err)
			}
			marked, err := tc.mark.encode(runtime.ContentTypeProtobuf, body)
			if err != nil {
				t.Fatal(err)
			}
			got, err := runtime.Decode(codec, marked)
			if err != nil {
				t.Fatal(err)
			}
			got.GetObjectKind().SetGroupVersionKind(want.GroupVersionKind())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the API server would read (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzEncode marks arbitrary bodies. What comes out must be an object with the mark, or nothing.
func FuzzEncode(f *testing.F) {
	f.Add("application/json", []byte(`{"metadata":{"ownerReferences":[null,{"uid":1}]}}`))
	f.Add("application/yaml", []byte("a: &a [*a]"))
	f.Add("application/yaml", []byte("? {}\n: x"))
	f.Add(runtime.ContentTypeProtobuf, []byte("k8s\x00\x12\x02\n\x00"))
	f.Add("", []byte(`{"a":1e999}`))
	f.Add("application/apply-patch+yaml", []byte("metadata: {ownerReferences: [{uid: u}]}"))
	f.Add("application/apply-patch+cbor", []byte("\xa1\x48metadata\xa0"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		for _, m := range []mark{sessionOf(namespacedOwner).mark("a"), sessionOf(namespacedOwner).mark("b")} {
			once, err := m.encode(contentType, body)
			if err != nil {
				continue
			}
			twice, err := m.encode(contentType, once)
			if err != nil {
				t.Fatalf("what was marked cannot be read: %v", err)
			}
			if m.reference != nil && string(twice) != string(once) {
				t.Errorf("marking twice gives %q, once %q", twice, once)
			}
		}
	})
}
