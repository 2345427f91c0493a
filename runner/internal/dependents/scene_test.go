package dependents_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/dependents"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

var (
	appGVK  = schema.GroupVersionKind{Group: "dependents.example.com", Version: "v1", Kind: "App"}
	siteGVK = schema.GroupVersionKind{Group: "dependents.example.com", Version: "v1", Kind: "Site"}
	mapGVK  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// soon is how long something may take that should take a fraction of a second, on a machine with other work.
const soon = time.Minute

// scene is a registry at work on a real API server.
type scene struct {
	*dependents.Registry
	client    client.Client // as the run that makes children
	other     client.Client // as somebody else
	config    *rest.Config
	namespace string
	ours      map[string]bool // namespaces of this test
	wakes     chan string
	log       chan string
	stop      func()

	mu    sync.Mutex
	lines []string // of the log, all of them
}

type option func(*dependents.Config)

func newScene(t *testing.T, options ...option) *scene {
	t.Helper()
	return newSceneAt(t, testkit.Cluster(t), options...)
}

func newSceneAt(t *testing.T, admin *rest.Config, options ...option) *scene {
	t.Helper()
	c := testkit.Client(t, admin)
	s := &scene{
		client:    client.WithFieldOwner(c, "play"),
		other:     client.WithFieldOwner(c, "somebody-else"),
		config:    admin,
		namespace: testkit.Namespace(t, c),
		wakes:     make(chan string, 1000),
	}
	s.ours = map[string]bool{s.namespace: true}
	testkit.InstallCRD(t, admin, appGVK)
	testkit.InstallCRD(t, admin, siteGVK, testkit.ClusterScoped)
	s.start(t, options...)
	return s
}

// start begins with a new registry, as a new process does.
func (s *scene) start(t *testing.T, options ...option) {
	t.Helper()
	mapper := testkit.Mapper(t, s.config)
	log := make(chan string, 1000)
	note := func(line string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lines = append(s.lines, line)
	}
	config := dependents.Config{
		RESTConfig: s.config,
		Mapper:     mapper,
		Log:        funcr.New(func(_, line string) { note(line); log <- line }, funcr.Options{Verbosity: 1}),
	}
	for _, o := range options {
		o(&config)
	}
	registry, err := dependents.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := registry.Start(ctx); err != nil {
			t.Errorf("Start: %v", err)
		}
	}()
	s.Registry, s.log = registry, log
	s.stop = func() { cancel(); <-ended }
	t.Cleanup(s.stop)
	s.addPrimary(dependents.Primary{GVK: appGVK})
}

func (s *scene) addPrimary(p dependents.Primary) {
	p.Wake = func(owner types.NamespacedName, child engine.Child, why dependents.Why) {
		if owner.Namespace != "" && !s.ours[owner.Namespace] {
			return // a namespace of an earlier test that is still being emptied
		}
		s.wakes <- fmt.Sprintf("%s %s: %s %s", p.GVK.Kind, owner.Name, child.Name, why)
	}
	s.AddPrimary(p)
}

// awaitLog waits for a log line that holds all the words.
func (s *scene) awaitLog(t *testing.T, words ...string) {
	t.Helper()
	deadline := time.After(soon)
	for {
		select {
		case line := <-s.log:
			if hasAll(line, words) {
				return
			}
		case <-deadline:
			t.Fatalf("no log line with %q after %s", words, soon)
		}
	}
}

// known reports whether the children of a kind are known.
func (s *scene) known(kind string) bool { return s.count("Children are known", "Kind="+kind+"\"") > 0 }

// count returns how many log lines hold all the words.
func (s *scene) count(words ...string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, line := range s.lines {
		if hasAll(line, words) {
			n++
		}
	}
	return n
}

// awaitOpen waits until so many watches are open.
func (s *scene) awaitOpen(t *testing.T, requests *watchCounter, want int64) {
	t.Helper()
	testkit.Eventually(t, soon, func(context.Context) error {
		if open := requests.open(); open != want {
			return fmt.Errorf("%d watches are open, want %d", open, want)
		}
		return nil
	})
}

func hasAll(line string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(line, word) {
			return false
		}
	}
	return true
}

// expect checks which wake comes next.
func (s *scene) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-s.wakes:
		if got != want {
			t.Fatalf("woken: %q, want %q", got, want)
		}
	case <-time.After(soon):
		t.Fatalf("nobody was woken after %s, want %q", soon, want)
	}
}

// expectNothingElse checks that no wake was left over.
func (s *scene) expectNothingElse(t *testing.T) {
	t.Helper()
	select {
	case got := <-s.wakes:
		t.Errorf("woken besides: %q", got)
	default:
	}
}

// app makes an owner.
func (s *scene) app(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	app := testkit.Object(appGVK, s.namespace, name, nil)
	s.create(t, app)
	return app
}

func ownerOf(obj client.Object) engine.Owner {
	gvk := obj.GetObjectKind().GroupVersionKind()
	return engine.Owner{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind,
		Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
	}
}

// ownedMap returns a ConfigMap with an owner reference, not yet created.
func (s *scene) ownedMap(name string, owner client.Object) *corev1.ConfigMap {
	gvk := owner.GetObjectKind().GroupVersionKind()
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace,
			Name:      name,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: owner.GetName(), UID: owner.GetUID(),
			}},
		},
		Data: map[string]string{"k": "v"},
	}
}

func (s *scene) create(t *testing.T, obj client.Object) {
	t.Helper()
	if err := s.client.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // owners without a namespace would outlive it
		if obj.GetNamespace() == "" {
			_ = s.client.Delete(context.Background(), obj)
		}
	})
}

// patch applies a merge patch as somebody.
func patch(t *testing.T, as client.Client, obj client.Object, merge string) {
	t.Helper()
	if err := as.Patch(t.Context(), obj, client.RawPatch(types.MergePatchType, []byte(merge))); err != nil {
		t.Fatal(err)
	}
}

// watchMaps begins to watch ConfigMaps and waits until those that exist are known.
func (s *scene) watchMaps(t *testing.T) {
	t.Helper()
	s.Watch(appGVK, mapGVK)
	s.awaitLog(t, "Children are known", "Kind=ConfigMap")
}

// watchCounter counts the watch requests that are being answered.
type watchCounter struct{ count atomic.Int64 }

func newWatchCounter() *watchCounter { return &watchCounter{} }

func (c *watchCounter) open() int64 { return c.count.Load() }

func (c *watchCounter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err == nil && req.URL.Query().Has("watch") {
			c.count.Add(1)
			resp.Body = &countedBody{ReadCloser: resp.Body, closed: func() { c.count.Add(-1) }}
		}
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

type countedBody struct {
	io.ReadCloser
	closed func()
	once   sync.Once
}

func (b *countedBody) Close() error {
	b.once.Do(b.closed)
	return b.ReadCloser.Close()
}
