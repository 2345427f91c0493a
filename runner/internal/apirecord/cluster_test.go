package apirecord_test

import (
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// TestRealAnswers reads what a real API server answers in each format that it can be asked for.
func TestRealAnswers(t *testing.T) {
	admin := testkit.Cluster(t)
	namespace := testkit.Namespace(t, testkit.Client(t, admin))
	for _, format := range []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR} {
		t.Run(format, func(t *testing.T) {
			var recorder apirecord.Recorder
			clients := client(t, admin, &recorder, format, "")
			maps := clients.CoreV1().ConfigMaps(namespace)

			created, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			patch := []byte(`{"data":{"k":"v"}}`)
			patched, err := maps.Patch(t.Context(), created.Name, types.MergePatchType, patch, metav1.PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := maps.Delete(t.Context(), created.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}

			write := engine.Write{GVK: mapGVK, Namespace: namespace, Name: created.Name, UID: created.UID}
			first, second, third := write, write, write
			first.ResourceVersion, second.ResourceVersion = created.ResourceVersion, patched.ResourceVersion
			third.Deleted, third.GVK = true, schema.GroupVersionKind{Version: "v1"}
			if got, want := recorder.Writes(), []engine.Write{first, second, third}; !slices.Equal(got, want) {
				t.Errorf("writes are\n%v, want\n%v", got, want)
			}
			if got := recorder.Requests(); got != 3 {
				t.Errorf("%d requests were counted, want 3", got)
			}
		})
	}
}

// TestRealDeletionOfACollection deletes by selector, as k8s with state=absent and label_selectors does.
func TestRealDeletionOfACollection(t *testing.T) {
	admin := testkit.Cluster(t)
	namespace := testkit.Namespace(t, testkit.Client(t, admin))
	for _, format := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR} {
		t.Run(format, func(t *testing.T) {
			var recorder apirecord.Recorder
			maps := client(t, admin, &recorder, format, "").CoreV1().ConfigMaps(namespace)
			want := map[types.UID]bool{}
			for range 3 {
				created, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
					GenerateName: "c-", Labels: map[string]string{"app": "x"},
				}}, metav1.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				want[created.UID] = true
			}
			selected := metav1.ListOptions{LabelSelector: "app=x"}
			if err := maps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, selected); err != nil {
				t.Fatal(err)
			}
			for _, write := range recorder.Writes()[3:] {
				if !write.Deleted || !want[write.UID] || write.Namespace != namespace || write.Name == "" {
					t.Errorf("noted %v, want the deletion of one of the three", write)
				}
				delete(want, write.UID)
			}
			if len(want) > 0 {
				t.Errorf("%d deletions were not noted", len(want))
			}
		})
	}
}

// TestRealRefusals reads refusals of a real API server in each format, those of a server-side apply included.
func TestRealRefusals(t *testing.T) {
	admin := testkit.Cluster(t)
	namespace := testkit.Namespace(t, testkit.Client(t, admin))
	for _, format := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(format, func(t *testing.T) {
			var recorder apirecord.Recorder
			clients := client(t, admin, &recorder, format, "nobody-in-particular")
			if _, err := clients.CoreV1().Secrets(namespace).Get(t.Context(), "s", metav1.GetOptions{}); err == nil {
				t.Fatal("a user without rights may read a Secret")
			}
			got := recorder.Denials()
			if len(got) != 1 {
				t.Fatalf("denials are %v, want one", got)
			}
			if got[0].Message == "" {
				t.Error("the API server's words are missing")
			}
			got[0].Message = ""
			if want := (engine.Denial{Verb: "get", Resource: "secrets", Namespace: namespace, Name: "s"}); got[0] != want {
				t.Errorf("the denial is %v, want %v", got[0], want)
			}
		})
	}
}

func client(t *testing.T, admin *rest.Config, recorder *apirecord.Recorder, format, user string) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(admin)
	config.Impersonate.UserName = user
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return recorder.Wrap(next) })
	// What a client sends is JSON; what it gets is up to its Accept header.
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, format
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}
