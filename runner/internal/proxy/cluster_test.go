package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

var (
	appGVK  = schema.GroupVersionKind{Group: "proxy.example.com", Version: "v1", Kind: "App"}
	siteGVK = schema.GroupVersionKind{Group: "proxy.example.com", Version: "v1", Kind: "Site"}
)

// realStage is a proxy in front of a real API server.
type realStage struct {
	*stage
	admin     client.Client
	config    *rest.Config
	namespace string
}

func newRealStage(tb testing.TB, options ...func(*proxy.Config)) *realStage {
	tb.Helper()
	return newStageAt(tb, testkit.Cluster(tb), options...)
}

// newStageAt is the same for a certain control plane.
func newStageAt(tb testing.TB, admin *rest.Config, options ...func(*proxy.Config)) *realStage {
	tb.Helper()
	c := testkit.Client(tb, admin)
	testkit.InstallCRD(tb, admin, appGVK)
	testkit.InstallCRD(tb, admin, siteGVK, testkit.ClusterScoped)
	return &realStage{stage: newStage(tb, admin, options...), admin: c, config: admin, namespace: testkit.Namespace(tb, c)}
}

// app makes a resource that runs can be for.
func (s *realStage) app(tb testing.TB, name string) engine.Owner {
	tb.Helper()
	return s.resource(tb, testkit.Object(appGVK, s.namespace, name, nil))
}

// resource makes obj on the API server.
func (s *realStage) resource(tb testing.TB, obj *unstructured.Unstructured) engine.Owner {
	tb.Helper()
	if err := s.admin.Create(tb.Context(), obj); err != nil {
		tb.Fatal(err)
	}
	s.cleanUp(tb, obj)
	return engine.Owner{APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID()}
}

// cleanUp deletes what the end of the test's namespace does not.
func (s *realStage) cleanUp(tb testing.TB, obj client.Object) {
	tb.Helper()
	if obj.GetNamespace() == "" {
		tb.Cleanup(func() { _ = s.admin.Delete(context.Background(), obj) })
	}
}

func reference(o engine.Owner) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID}}
}

// TestOwnerInEveryFormat creates a Secret in each format that clients use (C1, D4).
// Covers AO 10.1 no. 14.
func TestOwnerInEveryFormat(t *testing.T) {
	s := newRealStage(t)
	app := s.app(t, "x")
	for _, tc := range []struct{ name, contentType, body string }{
		{name: "json", contentType: runtime.ContentTypeJSON, body: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"json"}}`},
		{name: "yaml", contentType: runtime.ContentTypeYAML, body: "apiVersion: v1\nkind: Secret\nmetadata:\n  name: yaml\n"},
		{name: "protobuf", contentType: runtime.ContentTypeProtobuf},
	} {
		t.Run(tc.name, func(t *testing.T) {
			session := s.open(t, app)
			config := through(t, session)
			config.ContentType = tc.contentType
			clients := must(kubernetes.NewForConfig(config))
			var err error
			if tc.body == "" {
				_, err = clients.CoreV1().Secrets(s.namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: tc.name}}, metav1.CreateOptions{})
			} else {
				err = clients.CoreV1().RESTClient().Post().Namespace(s.namespace).Resource("secrets").
					SetHeader("Content-Type", tc.contentType).Body([]byte(tc.body)).Do(t.Context()).Error()
			}
			if err != nil {
				t.Fatal(err)
			}
			var secret corev1.Secret
			if err := s.admin.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: tc.name}, &secret); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(reference(app), secret.OwnerReferences); diff != "" {
				t.Errorf("owner references (-want +got):\n%s", diff)
			}
			report := session.Close()
			if len(report.Writes) != 1 || report.Writes[0].UID != secret.UID || report.Writes[0].ResourceVersion != secret.ResourceVersion {
				t.Errorf("writes are %v, want the Secret %s at %s", report.Writes, secret.UID, secret.ResourceVersion)
			}
			if diff := cmp.Diff([]schema.GroupVersionKind{{Version: "v1", Kind: "Secret"}}, report.Kinds); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOwnerAcrossScopes has the four combinations (D2) on a real API server, whose garbage collector would delete
// what has an illegal reference.
func TestOwnerAcrossScopes(t *testing.T) {
	acrossScopes(t, func(t *testing.T, s *realStage, owner engine.Owner, child client.Object) {
		t.Helper()
		child.SetGenerateName("child-")
		if err := testkit.Client(t, through(t, s.open(t, owner))).Create(t.Context(), child); err != nil {
			t.Fatal(err)
		}
	})
}

// acrossScopes looks at the owner of a child in each combination of scopes. bring creates the child in a run of the owner,
// and reads it.
func acrossScopes(t *testing.T, bring func(t *testing.T, s *realStage, owner engine.Owner, child client.Object)) {
	t.Helper()
	s := newRealStage(t)
	app, site := s.app(t, "x"), s.resource(t, testkit.Object(siteGVK, "", "site-"+s.namespace, nil))
	elsewhere := testkit.Namespace(t, s.admin)
	annotations := map[string]string{
		"operator-sdk/primary-resource":      s.namespace + "/x",
		"operator-sdk/primary-resource-type": "App.proxy.example.com",
	}
	for _, tc := range []struct {
		why         string
		owner       engine.Owner
		child       client.Object
		references  []metav1.OwnerReference
		annotations map[string]string
	}{
		{why: "same namespace", owner: app, child: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace}}, references: reference(app)},
		{why: "other namespace", owner: app, child: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere}}, annotations: annotations},
		{why: "cluster-scoped child", owner: app, child: &rbacv1.ClusterRole{}, annotations: annotations},
		{why: "cluster-scoped owner", owner: site, child: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace}}, references: reference(site)},
		{why: "both cluster-scoped", owner: site, child: &rbacv1.ClusterRole{}, references: reference(site)},
	} {
		t.Run(tc.why, func(t *testing.T) {
			bring(t, s, tc.owner, tc.child)
			s.cleanUp(t, tc.child)
			if diff := cmp.Diff(tc.references, tc.child.GetOwnerReferences()); diff != "" {
				t.Errorf("owner references (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.annotations, tc.child.GetAnnotations()); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInjectionCanBeSwitchedOff(t *testing.T) {
	s := newRealStage(t, func(c *proxy.Config) { c.InjectOwner = false })
	session := s.open(t, s.app(t, "x"))
	c := testkit.Client(t, through(t, session))
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c"}}
	if err := c.Create(t.Context(), child); err != nil {
		t.Fatal(err)
	}
	if len(child.OwnerReferences) != 0 {
		t.Errorf("owner references are %v, want none", child.OwnerReferences)
	}
	if kinds := session.Close().Kinds; len(kinds) != 0 {
		t.Errorf("kinds of children are %v, want none", kinds)
	}
}

// TestQuestionsPass asks something in the form of creating an object.
func TestQuestionsPass(t *testing.T) {
	s := newRealStage(t)
	clients := must(kubernetes.NewForConfig(through(t, s.open(t, s.app(t, "x")))))
	review, err := clients.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !review.Status.Allowed {
		t.Error("the administrator may not read Pods")
	}
}

// TestReadsAreThoseOfTheAPIServer covers C2 to C5: what the old tool answered from its cache, and wrongly.
// Covers AO 10.1 no. 11, UP C3, C4.
func TestReadsAreThoseOfTheAPIServer(t *testing.T) {
	s := newRealStage(t)
	session := s.open(t, s.app(t, "x"))
	clients := must(kubernetes.NewForConfig(through(t, session)))
	maps := clients.CoreV1().ConfigMaps(s.namespace)
	for _, role := range []string{"a", "b", "c"} {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m-" + role, Labels: map[string]string{"role": role}}}
		must(maps.Create(t.Context(), m, metav1.CreateOptions{}))
		must(maps.Get(t.Context(), m.Name, metav1.GetOptions{})) // a read after a write sees it (C8)
	}
	t.Run("paging", func(t *testing.T) {
		options := metav1.ListOptions{Limit: 1, LabelSelector: "role"}
		names := map[string]bool{}
		for {
			page := must(maps.List(t.Context(), options))
			if len(page.Items) != 1 {
				t.Fatalf("%d items on a page of 1", len(page.Items))
			}
			names[page.Items[0].Name] = true
			if options.Continue = page.Continue; page.Continue == "" {
				break
			}
		}
		if len(names) != 3 {
			t.Errorf("the pages hold %v, want all three", names)
		}
	})
	t.Run("set-based selector", func(t *testing.T) {
		if n := len(must(maps.List(t.Context(), metav1.ListOptions{LabelSelector: "role in (a,b)"})).Items); n != 2 {
			t.Errorf("%d objects, want 2", n)
		}
	})
	t.Run("table", func(t *testing.T) {
		body := must(clients.CoreV1().RESTClient().Get().Namespace(s.namespace).Resource("configmaps").
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Raw())
		if !strings.Contains(string(body), `"kind":"Table"`) {
			t.Errorf("the answer is %.80s, want a table", body)
		}
	})
	t.Run("watch of one object", func(t *testing.T) {
		w := must(maps.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=m-a"}))
		defer w.Stop()
		if event := <-w.ResultChan(); event.Type != watch.Added {
			t.Fatalf("the first event is %v, want the object", event)
		}
		must(maps.Update(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m-a"}}, metav1.UpdateOptions{}))
		if event := <-w.ResultChan(); event.Type != watch.Modified {
			t.Errorf("the next event is %v, want the change", event)
		}
	})
}

func TestBigObjects(t *testing.T) {
	s := newRealStage(t)
	app := s.app(t, "x")
	session := s.open(t, app)
	maps := must(kubernetes.NewForConfig(through(t, session))).CoreV1().ConfigMaps(s.namespace)
	big := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "big"}, Data: map[string]string{"k": strings.Repeat("x", 1000<<10)}}
	created, err := maps.Create(t.Context(), big, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reference(app), created.OwnerReferences); diff != "" {
		t.Errorf("owner references (-want +got):\n%s", diff)
	}
	tooBig := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "too-big"}, Data: map[string]string{"k": strings.Repeat("x", 4<<20)}}
	_, err = maps.Create(t.Context(), tooBig, metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), "limit is 3145728") {
		t.Errorf("the error is %v, want the API server's own", err)
	}
	if diff := cmp.Diff([]string{"App > ConfigMap"}, s.children.list()); diff != "" {
		t.Errorf("watched kinds (-want +got):\n%s", diff)
	}
}

// TestNumbersSurvive sends an integer that a float cannot hold.
func TestNumbersSurvive(t *testing.T) {
	s := newRealStage(t)
	c := testkit.Client(t, through(t, s.open(t, s.app(t, "x"))))
	obj := testkit.Object(appGVK, s.namespace, "numbers", map[string]any{"n": int64(1)<<62 + 1})
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := unstructured.NestedInt64(obj.Object, "spec", "n"); got != 1<<62+1 {
		t.Errorf("the number is %d, want %d", got, int64(1)<<62+1)
	}
}

func TestRefusalsAreReported(t *testing.T) {
	s := newRealStage(t)
	limited := rest.CopyConfig(s.config)
	limited.Impersonate.UserName = "nobody-in-particular"
	session := newStage(t, limited).open(t, s.app(t, "x"))
	clients := must(kubernetes.NewForConfig(through(t, session)))
	for range 3 {
		_, err := clients.CoreV1().ConfigMaps(s.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
		if err == nil || !strings.Contains(err.Error(), "cannot create resource") {
			t.Fatalf("the error is %v, want the API server's own", err)
		}
	}
	denials := session.Close().Denials
	if len(denials) != 1 || denials[0].Verb != "create" || denials[0].Resource != "configmaps" || denials[0].Namespace != s.namespace {
		t.Errorf("denials are %v, want one: to create configmaps in %s", denials, s.namespace)
	}
}

// TestChildrenAreMetAgain reads what an earlier run made, as a run after a restart does.
func TestChildrenAreMetAgain(t *testing.T) {
	s := newRealStage(t)
	app := s.app(t, "x")
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c", OwnerReferences: reference(app)}}
	if err := s.admin.Create(t.Context(), child); err != nil {
		t.Fatal(err)
	}
	session := s.open(t, app)
	maps := must(kubernetes.NewForConfig(through(t, session))).CoreV1().ConfigMaps(s.namespace)
	must(maps.Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})) // nobody's
	must(maps.Get(t.Context(), "c", metav1.GetOptions{}))
	must(maps.Get(t.Context(), "c", metav1.GetOptions{}))
	session.Close()
	if diff := cmp.Diff([]string{"App > ConfigMap"}, s.children.list()); diff != "" {
		t.Errorf("watched kinds (-want +got):\n%s", diff)
	}
}

// TestKindOfThisRun creates a CRD and, as soon as it is served, an object of it (C14).
func TestKindOfThisRun(t *testing.T) {
	s := newRealStage(t)
	app := s.app(t, "x")
	config := through(t, s.open(t, app))
	widget := schema.GroupVersionKind{Group: s.namespace + ".example.com", Version: "v1", Kind: "Widget"}
	crd := testkit.CRD(widget)
	testkit.InstallCRD(t, config, widget)
	s.cleanUp(t, crd)
	obj := testkit.Object(widget, s.namespace, "w", nil)
	created, err := must(dynamic.NewForConfig(config)).Resource(widget.GroupVersion().WithResource("widgets")).Namespace(s.namespace).
		Create(t.Context(), obj, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reference(app), created.GetOwnerReferences()); diff != "" {
		t.Errorf("owner references (-want +got):\n%s", diff)
	}
	if got := s.children.list(); !slices.Contains(got, "App > Widget") {
		t.Errorf("watched kinds are %v, want Widget among them", got)
	}
}

// TestOwnersAreNotMixedUp lets 50 runs create at once, 20 times in a row (D1).
func TestOwnersAreNotMixedUp(t *testing.T) {
	s := newRealStage(t)
	const runs, rounds = 50, 20
	apps := make([]engine.Owner, runs)
	for i := range apps {
		apps[i] = s.app(t, fmt.Sprint("x", i))
	}
	for round := range rounds {
		results := make(chan error, runs)
		for _, app := range apps {
			session := s.open(t, app)
			go func() { results <- s.createOne(t.Context(), session, app, round) }()
		}
		for range apps {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	}
}

func (s *realStage) createOne(ctx context.Context, session *proxy.Session, app engine.Owner, round int) error {
	defer session.Close()
	kubeconfig, err := session.Kubeconfig()
	if err != nil {
		return err
	}
	clients, err := clientsFrom(kubeconfig)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%d", app.Name, round)
	created, err := clients.CoreV1().ConfigMaps(s.namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if diff := cmp.Diff(reference(app), created.OwnerReferences); diff != "" {
		return fmt.Errorf("owner references of %s (-want +got):\n%s", name, diff)
	}
	return nil
}

// TestRawBodies sends what no client library would.
func TestRawBodies(t *testing.T) {
	s := newRealStage(t)
	httpClient := httpThrough(t, s.open(t, s.app(t, "x")))
	for _, tc := range []struct {
		why, contentType, body string
		want                   int
	}{
		{why: "broken JSON is for the API server to refuse", contentType: "application/json", body: `{"metadata":`, want: http.StatusBadRequest},
		{why: "so is a list", contentType: "application/json", body: `[]`, want: http.StatusBadRequest},
		{why: "an unknown type too", contentType: "text/plain", body: `x`, want: http.StatusUnsupportedMediaType},
		{why: "an object without a name", contentType: "application/json", body: `{"apiVersion":"v1","kind":"ConfigMap"}`, want: http.StatusUnprocessableEntity},
	} {
		t.Run(tc.why, func(t *testing.T) {
			url := s.URL() + "/api/v1/namespaces/" + s.namespace + "/configmaps"
			req := must(http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewBufferString(tc.body)))
			req.Header.Set("Content-Type", tc.contentType)
			resp, err := httpClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var status metav1.Status
			if err := json.NewDecoder(resp.Body).Decode(&status); err != nil && err != io.EOF {
				t.Fatal(err)
			}
			if resp.StatusCode != tc.want {
				t.Errorf("status %d (%s), want %d", resp.StatusCode, status.Message, tc.want)
			}
		})
	}
}
