package dependents_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"

	"github.com/chartbook-operator/chartbook/runner/internal/dependents"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// metadataCounter counts requests for metadata, and how many of them are made at one time.
type metadataCounter struct{ all, busy, most atomic.Int64 }

func (c *metadataCounter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if strings.Contains(req.Header.Get("Accept"), "PartialObjectMetadataList") {
			c.all.Add(1)
			c.most.Store(max(c.most.Load(), c.busy.Add(1)))
			defer c.busy.Add(-1)
		}
		return next.RoundTrip(req)
	})
}

// loud fails the test when the API server warns.
type loud struct{ t *testing.T }

func (l loud) HandleWarningHeader(_ int, _, text string) {
	l.t.Errorf("a warning would be on stderr: %s", text)
}

// TestChildrenOfAnEarlierProcess restarts without a run that would meet the children (AO 5.3: the old tool noticed a
// child again only when a playbook read it by name).
func TestChildrenOfAnEarlierProcess(t *testing.T) {
	s := newScene(t)
	app := s.app(t, "x")
	elsewhere := testkit.Namespace(t, s.client)
	marks := map[string]string{
		"operator-sdk/primary-resource":      s.namespace + "/" + app.GetName(),
		"operator-sdk/primary-resource-type": appGVK.GroupKind().String(),
	}
	owned := s.ownedMap("owned", app)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "earlier-", Annotations: marks}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: "annotated", Annotations: marks}}
	s.create(t, owned)
	s.create(t, role)
	s.create(t, secret)
	s.stop()

	requests := &metadataCounter{}
	counted := rest.CopyConfig(s.config)
	counted.Wrap(requests.wrap)
	counted.WarningHandler = loud{t}
	lister := discovery.NewDiscoveryClientForConfigOrDie(s.config)
	s.start(t, func(c *dependents.Config) { c.RESTConfig, c.Discovery = counted, lister })
	s.addPrimary(dependents.Primary{GVK: siteGVK, ClusterScoped: true})
	s.addPrimary(dependents.Primary{GVK: appGVK, WatchClusterScoped: true}) // in place of the one of the scene
	s.awaitLog(t, "Looked for children of earlier runs")

	lists, err := lister.ServerPreferredResources()
	if err != nil && len(lists) == 0 {
		t.Fatal(err)
	}
	kinds := int64(0)
	for _, list := range lists {
		kinds += int64(len(list.APIResources))
	}
	if all := requests.all.Load(); all > kinds+10 || all < 10 {
		t.Errorf("%d requests to look into %d kinds, want about one for each", all, kinds)
	}
	if most := requests.most.Load(); most != 1 {
		t.Errorf("%d requests at one time, want 1", most)
	}
	t.Logf("%d requests to look into %d kinds", requests.all.Load(), kinds)

	for _, kind := range []string{"ConfigMap", "Secret", "ClusterRole"} {
		s.expectKnown(t, kind)
	}
	patch(t, s.other, owned, `{"data":{"k":"edited"}}`)
	s.expect(t, "App x: owned edited")
	patch(t, s.client, role, `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`)
	s.expect(t, "App x: "+role.Name+" edited")
	if err := s.other.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	s.expect(t, "App x: annotated deleted")
	s.expectNothingElse(t)
}

// expectKnown waits until the children of a kind are known. The lists of several kinds end in any order, so that their
// log lines cannot be taken one after the other.
func (s *scene) expectKnown(t *testing.T, kind string) {
	t.Helper()
	testkit.Eventually(t, soon, func(context.Context) error {
		if !s.known(kind) {
			return fmt.Errorf("children of kind %s are not known", kind)
		}
		return nil
	})
}

// TestIdleWatchComesBack drops the watch on a kind that has no children any more, and begins it again for the next one.
func TestIdleWatchComesBack(t *testing.T) {
	requests := newWatchCounter()
	counted := rest.CopyConfig(testkit.Cluster(t))
	counted.Wrap(requests.wrap)
	fake := testclock.NewFakeClock(time.Now())
	s := newScene(t, func(c *dependents.Config) { c.RESTConfig, c.Clock = counted, fake })
	widget := s.widget(t, "v1")
	owner := s.ownedMap("", s.app(t, "x")).OwnerReferences
	first := testkit.Object(widget, s.namespace, "first", map[string]any{"size": int64(1)})
	first.SetOwnerReferences(owner)
	s.create(t, first)
	s.Watch(appGVK, widget)
	s.awaitLog(t, "Children are known", "Kind=Widget")

	fake.Step(time.Hour)
	patch(t, s.other, first, `{"spec":{"size":2}}`)
	s.expect(t, "App x: first edited") // it is there, and so is the watch
	if err := s.other.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	s.expect(t, "App x: first deleted")
	fake.Step(11 * time.Minute)
	s.awaitLog(t, "No longer watching children", "Kind=Widget")
	s.awaitOpen(t, requests, 0)

	second := testkit.Object(widget, s.namespace, "second", map[string]any{"size": int64(1)})
	second.SetOwnerReferences(owner)
	s.create(t, second)
	s.Watch(appGVK, widget)
	s.awaitLog(t, "Children are known", "Kind=Widget")
	patch(t, s.other, second, `{"spec":{"size":2}}`)
	s.expect(t, "App x: second edited")
	s.expectNothingElse(t)
}

// widget installs a kind of this test's own.
func (s *scene) widget(t *testing.T, version string) schema.GroupVersionKind {
	t.Helper()
	gvk := schema.GroupVersionKind{Group: s.namespace + ".example.com", Version: version, Kind: "Widget"}
	testkit.InstallCRD(t, s.config, gvk)
	t.Cleanup(func() { _ = s.client.Delete(context.Background(), testkit.CRD(gvk)) })
	return gvk
}
