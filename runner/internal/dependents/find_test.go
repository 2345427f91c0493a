package dependents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// shelfServer is an API server with resources of which only the metadata is asked for.
type shelfServer struct {
	mu      sync.Mutex
	asked   []string                                    // path and the page that was asked for
	busy    int                                         // requests that are being answered
	most    int                                         // of those, at one time
	pages   map[string][][]metav1.PartialObjectMetadata // by path
	refuse  map[string]int                              // path -> code
	recover bool                                        // refuse once only
	whole   bool                                        // somebody asked for more than metadata
}

func (s *shelfServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("continue"), &page)
	code := s.note(r, page)
	defer s.done()
	w.Header().Set("Content-Type", "application/json")
	if code != 0 {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: int32(code), Reason: reasonOf(code),
		})
		return
	}
	list := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}}
	if pages := s.pages[r.URL.Path]; page < len(pages) {
		list.Items = pages[page]
		if page+1 < len(pages) {
			list.Continue = fmt.Sprint(page + 1)
		}
	}
	_ = json.NewEncoder(w).Encode(list)
}

// note takes note of a request and returns the code to refuse it with.
func (s *shelfServer) note(r *http.Request, page int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	s.most = max(s.most, s.busy)
	s.asked = append(s.asked, fmt.Sprintf("%s %s %d", r.URL.Path, r.URL.Query().Get("limit"), page))
	s.whole = s.whole || !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList")
	code := s.refuse[r.URL.Path]
	if s.recover {
		delete(s.refuse, r.URL.Path)
	}
	return code
}

func (s *shelfServer) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
}

func reasonOf(code int) metav1.StatusReason {
	if code == http.StatusForbidden {
		return metav1.StatusReasonForbidden
	}
	return metav1.StatusReasonServiceUnavailable
}

// catalogue is what discovery says.
type catalogue struct {
	lists []*metav1.APIResourceList
	err   error
}

func (c catalogue) ServerPreferredResourcesWithContext(context.Context) ([]*metav1.APIResourceList, error) {
	return c.lists, c.err
}

func resource(name, kind string, namespaced bool, verbs ...string) metav1.APIResource {
	return metav1.APIResource{Name: name, Kind: kind, Namespaced: namespaced, Verbs: append(verbs, "get")}
}

var everything = []*metav1.APIResourceList{
	{GroupVersion: "v1", APIResources: []metav1.APIResource{
		resource("configmaps", "ConfigMap", true, "list", "watch"),
		resource("events", "Event", true, "list", "watch"),
		resource("componentstatuses", "ComponentStatus", false, "list"),
		resource("namespaces", "Namespace", false, "list", "watch"),
		resource("namespaces/status", "Namespace", false, "list", "watch"),
	}},
	{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{resource("deployments", "Deployment", true, "list", "watch")}},
}

func TestFindingChildrenOfEarlierRuns(t *testing.T) {
	const maps, deployments, namespaces, apps = "/api/v1/configmaps", "/apis/apps/v1/deployments", "/api/v1/namespaces", "/apis/example.com/v1/apps"
	foreign, ours := metav1.PartialObjectMetadata{}, metav1.PartialObjectMetadata{}
	ours.Namespace, ours.OwnerReferences = "a", []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "App", Name: "x", UID: "u"}}
	type pages = [][]metav1.PartialObjectMetadata
	for _, tc := range []struct {
		why        string
		primary    Primary
		namespaces []string
		shelf      *shelfServer
		discovery  error
		watched    []string
		asked      []string // besides for a resource of the primary's own
	}{
		{
			why:   "each kind that can be watched is asked for once, with all its pages",
			shelf: &shelfServer{pages: map[string]pages{maps: {{foreign}, {foreign}}}},
			asked: []string{maps + " 250 0", maps + " 250 1", deployments + " 250 0"},
		},
		{
			why:     "the first child will do",
			shelf:   &shelfServer{pages: map[string]pages{maps: {{foreign}, {foreign, ours}, {ours}}}},
			watched: []string{"ConfigMap"},
			asked:   []string{maps + " 250 0", maps + " 250 1", deployments + " 250 0"},
		},
		{
			why:     "cluster-scoped kinds if these are watched",
			primary: Primary{WatchClusterScoped: true},
			asked:   []string{maps + " 250 0", namespaces + " 250 0", deployments + " 250 0"},
		},
		{
			why:        "only the namespaces that are watched",
			namespaces: []string{"a", "b"},
			shelf:      &shelfServer{pages: map[string]pages{"/api/v1/namespaces/a/configmaps": {{ours}}}},
			watched:    []string{"ConfigMap"},
			asked: []string{"/api/v1/namespaces/a/configmaps 250 0",
				"/apis/apps/v1/namespaces/a/deployments 250 0", "/apis/apps/v1/namespaces/b/deployments 250 0"},
		},
		{
			why:     "not what is on the blacklist",
			primary: Primary{Blacklist: []schema.GroupVersionKind{mapGVK}},
			shelf:   &shelfServer{pages: map[string]pages{maps: {{ours}}}},
			asked:   []string{deployments + " 250 0"},
		},
		{
			why:     "what is forbidden is asked for once",
			shelf:   &shelfServer{refuse: map[string]int{maps: http.StatusForbidden}, pages: map[string]pages{deployments: {{ours}}}},
			watched: []string{"Deployment"},
			asked:   []string{maps + " 250 0", deployments + " 250 0"},
		},
		{
			why:     "what could not be read is asked for again",
			shelf:   &shelfServer{refuse: map[string]int{maps: http.StatusServiceUnavailable}, recover: true, pages: map[string]pages{maps: {{ours}}}},
			watched: []string{"ConfigMap"},
			asked:   []string{maps + " 250 0", deployments + " 250 0", maps + " 250 0"},
		},
		{
			why:       "one broken aggregated API does not matter",
			shelf:     &shelfServer{pages: map[string]pages{maps: {{ours}}}},
			discovery: errors.New("unable to retrieve the complete list of server APIs"),
			watched:   []string{"ConfigMap"},
			asked:     []string{maps + " 250 0", deployments + " 250 0"},
		},
		{
			why:   "without a resource there is nobody to wake",
			shelf: &shelfServer{pages: map[string]pages{apps: {{}}, maps: {{ours}}}},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			shelf := tc.shelf
			if shelf == nil {
				shelf = new(shelfServer)
			}
			if shelf.pages == nil {
				shelf.pages = map[string]pages{}
			}
			for _, path := range []string{apps, "/apis/example.com/v1/namespaces/a/apps"} {
				if shelf.pages[path] == nil {
					shelf.pages[path] = pages{{foreign}}
				}
			}
			server := httptest.NewServer(shelf)
			t.Cleanup(server.Close)
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(appGVK, meta.RESTScopeNamespace)
			registry, err := New(Config{
				RESTConfig: &rest.Config{Host: server.URL}, Mapper: mapper, Namespaces: tc.namespaces,
				Discovery: catalogue{everything, tc.discovery}, Log: logr.Discard(),
			})
			if err != nil {
				t.Fatal(err)
			}
			tc.primary.GVK = appGVK
			registry.AddPrimary(tc.primary)

			registry.finder.find(t.Context(), registry.takeUnsought())

			var watched []string
			for kind := range registry.watched {
				watched = append(watched, kind.Kind)
			}
			if diff := cmp.Diff(tc.watched, watched); diff != "" {
				t.Errorf("watched (-want +got):\n%s", diff)
			}
			asked := slices.DeleteFunc(shelf.asked, func(request string) bool { return strings.Contains(request, "example.com") })
			if diff := cmp.Diff(tc.asked, asked); len(tc.asked)+len(asked) > 0 && diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
			if shelf.most != 1 || shelf.whole {
				t.Errorf("%d requests at one time, want 1; more than metadata was asked for: %v", shelf.most, shelf.whole)
			}
		})
	}
}

// TestNothingIsSoughtForLongWatchedKinds makes sure that a primary that comes later costs no second look at what is watched.
func TestNothingIsSoughtForLongWatchedKinds(t *testing.T) {
	registry, err := New(Config{RESTConfig: &rest.Config{Host: "localhost"}, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	registry.AddPrimary(Primary{GVK: appGVK})
	primaries := registry.takeUnsought()
	maps := listable{gvk: mapGVK, namespaced: true}
	if got := registry.without(maps, primaries); len(got) != 1 {
		t.Errorf("%d primaries are looked for, want 1", len(got))
	}
	registry.Watch(appGVK, mapGVK)
	if got := registry.without(maps, primaries); len(got) != 0 {
		t.Errorf("%d primaries are looked for, want none", len(got))
	}
	if again := registry.takeUnsought(); len(again) != 0 {
		t.Errorf("%d primaries are looked for twice", len(again))
	}
}
