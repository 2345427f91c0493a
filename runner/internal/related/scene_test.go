package related_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ktypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/chartbook-operator/chartbook/runner/internal/related"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // controller-runtime complains on stderr otherwise
	os.Exit(m.Run())
}

// Times in which something has to happen. Promised is what docs/watches.md says of a change; soon is for all that a busy
// machine may delay.
const (
	promised = 2 * time.Second
	soon     = time.Minute
)

// scene is a registry at work on a real API server.
type scene struct {
	*related.Watch
	client    client.Client
	namespace string
	wakes     chan string
	requests  *requests
	log       *lines
}

// newScene starts a registry for a watch that is written as in a watches file, without its first keys. as changes how the
// registry reaches the API server.
func newScene(t *testing.T, keys string, as ...func(*rest.Config)) *scene {
	t.Helper()
	config := rest.CopyConfig(testkit.Cluster(t))
	c := testkit.Client(t, config)
	s := &scene{client: c, namespace: testkit.Namespace(t, c), wakes: make(chan string, 100), requests: &requests{}, log: &lines{}}
	for _, change := range as {
		change(config)
	}
	mapper := testkit.Mapper(t, config)
	config.Wrap(s.requests.wrap)
	registry, err := related.New(related.Config{RESTConfig: config, Mapper: mapper, Log: s.log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	s.Watch = registry.Watch(read(t, keys))
	s.OnChange(func(name ktypes.NamespacedName) { s.wakes <- name.Name })
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- registry.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Start: %v", err)
			}
		case <-time.After(soon):
			t.Error("the registry does not end")
		}
	})
	return s
}

// read reads the keys of a watch.
func read(t *testing.T, keys string) watches.Watch {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/play.yml", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	text := "- version: v1\n  group: related.example.com\n  kind: App\n  playbook: play.yml\n  markUnsafe: true\n" + keys
	file, err := watches.Decode("watches.yaml", []byte(text), watches.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return file.Watches[0]
}

// app returns a resource; it need not be stored for others to be read.
func (s *scene) app(name string, spec map[string]any) *unstructured.Unstructured {
	return testkit.Object(schema.GroupVersionKind{Group: "related.example.com", Version: "v1", Kind: "App"}, s.namespace, name, spec)
}

// resolve reads what a resource refers to, and waits until that is followed.
func (s *scene) resolve(t *testing.T, app *unstructured.Unstructured) related.Resolved {
	t.Helper()
	got, err := s.Resolve(t.Context(), app, false, func(...[]byte) {})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (s *scene) secret(t *testing.T, name string, data map[string]string, edit ...func(*corev1.Secret)) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, StringData: data}
	for _, f := range edit {
		f(secret)
	}
	if err := s.client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

// patch changes an object by a merge patch.
func (s *scene) patch(t *testing.T, obj client.Object, merge string) {
	t.Helper()
	if err := s.client.Patch(t.Context(), obj, client.RawPatch(ktypes.MergePatchType, []byte(merge))); err != nil {
		t.Fatal(err)
	}
}

func (s *scene) delete(t *testing.T, obj client.Object) {
	t.Helper()
	if err := s.client.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// followed waits until the registry has n watches open.
func (s *scene) followed(t *testing.T, n int) {
	t.Helper()
	testkit.Eventually(t, soon, func(context.Context) error { return s.requests.open(n) })
}

// expect checks who is woken next, and that it is in time.
func (s *scene) expect(t *testing.T, want string) {
	t.Helper()
	start := time.Now()
	select {
	case got := <-s.wakes:
		if took := time.Since(start); got != want || took > promised {
			t.Fatalf("%s was woken after %s, want %s in %s", got, took, want, promised)
		}
	case <-time.After(soon):
		t.Fatalf("nobody was woken after %s, want %s", soon, want)
	}
}

// quiet checks that nobody was woken by what was done before: a change that is made after it is seen after it.
func (s *scene) quiet(t *testing.T, because string, marker func(), marked string) {
	t.Helper()
	marker()
	select {
	case got := <-s.wakes:
		if got != marked {
			t.Errorf("%s was woken, although %s", got, because)
		}
	case <-time.After(soon):
		t.Fatalf("nobody was woken after %s, want %s", soon, marked)
	}
	select {
	case got := <-s.wakes:
		t.Errorf("%s was woken besides, although %s", got, because)
	default:
	}
}

// requests counts requests of the registry, and the watches that are open.
type requests struct {
	mu       sync.Mutex
	watches  int
	asked    []string
	statuses []int
}

func (r *requests) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err != nil {
			return resp, err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.asked = append(r.asked, req.Method+" "+req.URL.RequestURI())
		r.statuses = append(r.statuses, resp.StatusCode)
		if req.URL.Query().Has("watch") && resp.StatusCode == http.StatusOK {
			r.watches++
			context.AfterFunc(req.Context(), func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.watches--
			})
		}
		return resp, nil
	})
}

func (r *requests) open(want int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watches != want {
		return fmt.Errorf("%d watches are open, want %d: %s", r.watches, want, strings.Join(r.asked, "\n"))
	}
	return nil
}

// with returns the requests that hold a text.
func (r *requests) with(text string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, asked := range r.asked {
		if strings.Contains(asked, text) {
			out = append(out, asked)
		}
	}
	return out
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// lines keeps a log.
type lines struct {
	mu   sync.Mutex
	kept []string
}

func (l *lines) logger() logr.Logger {
	return funcr.New(func(_, line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.kept = append(l.kept, line)
	}, funcr.Options{})
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.kept {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func (r *requests) refused() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, status := range r.statuses {
		if status == http.StatusForbidden {
			n++
		}
	}
	return n
}

func without(list []string, text string) []string {
	var out []string
	for _, item := range list {
		if !strings.Contains(item, text) {
			out = append(out, item)
		}
	}
	return out
}

// nameOf names a resource.
func (s *scene) nameOf(name string) ktypes.NamespacedName {
	return ktypes.NamespacedName{Namespace: s.namespace, Name: name}
}

// granted waits until the API server knows of a new right.
func (s *scene) granted(t *testing.T, user string) {
	t.Helper()
	testkit.Eventually(t, soon, func(ctx context.Context) error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "related-" + user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: s.namespace, Verb: "get", Version: "v1", Resource: "secrets", Name: "db",
			},
		}}
		if err := s.client.Create(ctx, review); err != nil {
			return err
		}
		if !review.Status.Allowed {
			return fmt.Errorf("not allowed yet: %s", review.Status.Reason)
		}
		return nil
	})
}
