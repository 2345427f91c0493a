package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
)

// learned remembers the values of Secrets that a session tells of, as they are written in JSON.
type learned struct {
	mu     sync.Mutex
	values []string
}

func (l *learned) learn(obj map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if obj["kind"] != "Secret" || obj["apiVersion"] != "v1" {
		l.values = append(l.values, fmt.Sprint("no Secret: ", obj["kind"]))
	}
	for _, field := range []string{"data", "stringData"} {
		values, _ := obj[field].(map[string]any)
		for _, v := range values {
			l.values = append(l.values, fmt.Sprint(v))
		}
	}
}

// take returns what was learned since the last time, sorted, each once.
func (l *learned) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.values = nil }()
	slices.Sort(l.values)
	return slices.Compact(l.values)
}

// TestSecretsAreLearned sends and reads Secrets in each way and format that a real API server knows.
func TestSecretsAreLearned(t *testing.T) {
	s := newRealStage(t)
	for _, format := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeYAML} {
		var l learned
		session := must(s.Open(s.app(t, "x"+strings.ReplaceAll(strings.ToLower(format), "/", "-")), proxy.Learn(l.learn)))
		config := through(t, session)
		config.AcceptContentTypes = format
		if format != runtime.ContentTypeYAML {
			config.ContentType = format
		}
		secrets := must(kubernetes.NewForConfig(config)).CoreV1().Secrets(s.namespace)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"k": []byte("one")}}
		others := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "t"}, StringData: map[string]string{"k": "two"}}
		for _, step := range []struct {
			why  string
			do   func(context.Context) error
			want []string
		}{
			{why: "create", want: []string{"b25l"}, do: func(ctx context.Context) error {
				_, err := secrets.Create(ctx, secret, metav1.CreateOptions{})
				return err
			}},
			{why: "create from text", want: []string{"dHdv", "two"}, do: func(ctx context.Context) error {
				_, err := secrets.Create(ctx, others, metav1.CreateOptions{})
				return err
			}},
			{why: "get", want: []string{"b25l"}, do: func(ctx context.Context) error {
				_, err := secrets.Get(ctx, "s", metav1.GetOptions{})
				return err
			}},
			{why: "list", want: []string{"b25l", "dHdv"}, do: func(ctx context.Context) error {
				_, err := secrets.List(ctx, metav1.ListOptions{})
				return err
			}},
			{why: "update", want: []string{"dGhyZWU="}, do: func(ctx context.Context) error {
				secret.Data["k"] = []byte("three")
				_, err := secrets.Update(ctx, secret, metav1.UpdateOptions{})
				return err
			}},
			{why: "apply", want: []string{"Zm91cg==", "four"}, do: func(ctx context.Context) error {
				body := []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"k":"four"}}`)
				_, err := secrets.Patch(ctx, "s", types.ApplyYAMLPatchType, body, metav1.PatchOptions{FieldManager: "m", Force: new(true)})
				return err
			}},
			{why: "merge", want: []string{"Zml2ZQ==", "five"}, do: func(ctx context.Context) error {
				_, err := secrets.Patch(ctx, "s", types.MergePatchType, []byte(`{"stringData":{"k":"five"}}`), metav1.PatchOptions{})
				return err
			}},
			{why: "refused", want: []string{"bm8="}, do: func(ctx context.Context) error {
				_, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "NO"}, Data: map[string][]byte{"k": []byte("no")}}, metav1.CreateOptions{})
				if err == nil {
					return fmt.Errorf("a name that is not one is taken")
				}
				return nil
			}},
			{why: "delete", want: nil, do: func(ctx context.Context) error { return secrets.Delete(ctx, "s", metav1.DeleteOptions{}) }},
			{why: "delete all", want: []string{"dHdv"}, do: func(ctx context.Context) error {
				return secrets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
			}},
		} {
			if err := step.do(t.Context()); err != nil {
				t.Fatalf("%s, %s: %v", format, step.why, err)
			}
			if diff := cmp.Diff(step.want, l.take()); diff != "" {
				t.Errorf("%s, %s: learned (-want +got):\n%s", format, step.why, diff)
			}
		}
		if report := session.Close(); report.Unlearned != 0 {
			t.Errorf("%s: %d bodies were not learned from, want none", format, report.Unlearned)
		}
	}
}

// TestSecretsInTables reads a table with the objects in it.
func TestSecretsInTables(t *testing.T) {
	s := newRealStage(t)
	var l learned
	session := must(s.Open(s.app(t, "x"), proxy.Learn(l.learn)))
	defer session.Close()
	if err := s.admin.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "s"}, Data: map[string][]byte{"k": []byte("one")}}); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]string{"?includeObject=Object": {"b25l"}, "": nil} {
		req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/api/v1/namespaces/"+s.namespace+"/secrets"+query, nil))
		req.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
		resp := must(httpThrough(t, session).Do(req))
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if diff := cmp.Diff(want, l.take()); diff != "" {
			t.Errorf("learned with %q (-want +got):\n%s", query, diff)
		}
	}
}

// TestSecretsAreLearnedFirst makes sure that who reads a value finds it known, in a watch too, and that nothing is held
// back for long.
func TestSecretsAreLearnedFirst(t *testing.T) {
	s := newRealStage(t)
	var l learned
	session := must(s.Open(s.app(t, "x"), proxy.Learn(l.learn)))
	defer session.Close()
	config := through(t, session)
	config.ContentType = runtime.ContentTypeJSON
	secrets := must(kubernetes.NewForConfig(config)).CoreV1().Secrets(s.namespace)
	w := must(secrets.Watch(t.Context(), metav1.ListOptions{}))
	defer w.Stop()
	for i := range 5 {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: fmt.Sprint("s", i)}, Data: map[string][]byte{"k": []byte("one")}}
		if err := s.admin.Create(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		<-w.ResultChan()
		if diff := cmp.Diff([]string{"b25l"}, l.take()); diff != "" {
			t.Errorf("learned when the event was there (-want +got):\n%s", diff)
		}
	}
}

// TestWhatCannotBeLearned passes through, unchanged, and is counted.
func TestWhatCannotBeLearned(t *testing.T) {
	const head, tail = `{"kind":"SecretList","apiVersion":"v1","items":[{"metadata":{"name":"`, `"},"data":{"k":"b25l"}}]}`
	event := func(name string) string {
		return `{"type":"ADDED","object":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"` + name + `"},"data":{"k":"b25l"}}}` + "\n"
	}
	long := strings.Repeat("x", 17<<20)
	for _, tc := range []struct {
		why, query, contentType, body string
		learned                       []string
		unlearned                     int
	}{
		{why: "a list as any", contentType: "application/json", body: head + "x" + tail, learned: []string{"b25l"}},
		{why: "one that is too long", contentType: "application/json", body: head + long + tail, unlearned: 1},
		{why: "an unknown format", contentType: "text/plain", body: "x", unlearned: 1},
		{why: "a broken answer", contentType: "application/json", body: `{"kind":`, unlearned: 1},
		{why: "a watch in protobuf", query: "?watch=1", contentType: "application/vnd.kubernetes.protobuf;stream=watch", body: "x", unlearned: 1},
		{why: "an event that is too long, and one after it", query: "?watch=1", contentType: "application/json", body: event(long) + event("x"), learned: []string{"b25l"}, unlearned: 1},
		{why: "an event that breaks off", query: "?watch=1", contentType: "application/json", body: event("x") + `{"type"`, learned: []string{"b25l"}, unlearned: 1},
		{why: "metadata only", contentType: "application/json", body: `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"}`},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := newFakeStage(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.contentType)
				w.(http.Flusher).Flush() // of unknown length
				_, _ = io.WriteString(w, tc.body)
			})
			var l learned
			session := must(s.Open(owner("a", "x"), proxy.Learn(l.learn)))
			defer session.Close()
			_, body := get(t, httpThrough(t, session), s.URL()+"/api/v1/namespaces/a/secrets"+tc.query)
			if got := string(must(io.ReadAll(body))); got != tc.body {
				t.Errorf("%d bytes arrive, want the %d that were sent", len(got), len(tc.body))
			}
			if diff := cmp.Diff(tc.learned, l.take()); diff != "" {
				t.Errorf("learned (-want +got):\n%s", diff)
			}
			if got := session.Close().Unlearned; got != tc.unlearned {
				t.Errorf("%d bodies were not learned from, want %d", got, tc.unlearned)
			}
		})
	}
}
