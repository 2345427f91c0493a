package dependents_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/dependents"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

func TestEditAndDeletion(t *testing.T) {
	s := newScene(t)
	child := s.ownedMap("c", s.app(t, "x"))
	s.create(t, child)
	s.watchMaps(t)

	patch(t, s.other, child, `{"data":{"k":"edited"}}`)
	s.expect(t, "App x: c edited")
	if err := s.other.Delete(t.Context(), child); err != nil {
		t.Fatal(err)
	}
	s.expect(t, "App x: c deleted")
	s.expectNothingElse(t)
}

// TestHarmlessChanges makes all the changes that must not wake, and then one that must: had one of the former been
// taken for a change, it would have come first.
// Covers AO 10.3 no. 10, UP D6.
func TestHarmlessChanges(t *testing.T) {
	s := newScene(t)
	app := s.app(t, "x")
	service := &corev1.Service{
		ObjectMeta: s.ownedMap("c", app).ObjectMeta,
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	service.Labels = map[string]string{"app": "x"}
	s.create(t, service)
	serviceGVK := schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	s.Watch(appGVK, serviceGVK)
	s.awaitLog(t, "Children are known", "Kind=Service")

	for i := range 10 {
		patch(t, s.other, service, fmt.Sprintf(`{"metadata":{"annotations":{"foreign.example.com/n":"%d"}}}`, i))
	}
	patch(t, s.other, service, `{"metadata":{"labels":{"foreign":"y"}}}`)
	patch(t, s.other, service, `{"metadata":{"annotations":{"service.kubernetes.io/x":"y"}}}`)
	patch(t, s.other, service, `{"metadata":{"finalizers":["example.com/foreign"]}}`)
	patch(t, s.other, service, `{"metadata":{"finalizers":null}}`)
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	if err := s.other.Status().Update(t.Context(), service); err != nil {
		t.Fatal(err)
	}

	patch(t, s.other, service, `{"metadata":{"labels":{"app":"z"}}}`)
	s.expect(t, "App x: c edited")
	s.expectNothingElse(t)
}

// TestOwnWrites lets the watch event and the answer race a hundred times.
func TestOwnWrites(t *testing.T) {
	s := newScene(t)
	app := s.app(t, "x")
	child := s.ownedMap("c", app)
	s.create(t, child)
	s.watchMaps(t)
	for i := range 100 {
		s.BeginRun(ownerOf(app))
		patch(t, s.client, child, fmt.Sprintf(`{"data":{"k":"%d"}}`, i))
		s.EndRun(ownerOf(app), []engine.Write{{
			GVK: mapGVK, Namespace: child.Namespace, Name: child.Name, UID: child.UID, ResourceVersion: child.ResourceVersion,
		}})
	}
	patch(t, s.other, child, `{"data":{"k":"edited"}}`)
	s.expect(t, "App x: c edited")
	s.expectNothingElse(t)
}

func TestEditDuringRun(t *testing.T) {
	s := newScene(t)
	app := s.app(t, "x")
	child, marker := s.ownedMap("c", app), s.ownedMap("marker", s.app(t, "y"))
	s.create(t, child)
	s.create(t, marker)
	s.watchMaps(t)

	s.BeginRun(ownerOf(app))
	patch(t, s.other, child, `{"data":{"k":"edited"}}`)
	patch(t, s.other, marker, `{"data":{"k":"edited"}}`)
	s.expect(t, "App y: marker edited") // so the edit of c is known, and held back
	s.EndRun(ownerOf(app), nil)
	s.expect(t, "App x: c edited")
	s.expectNothingElse(t)
}

func TestRestart(t *testing.T) {
	s := newScene(t)
	child := s.ownedMap("c", s.app(t, "x"))
	s.create(t, child)
	s.watchMaps(t)
	s.stop()

	s.start(t)
	s.watchMaps(t)
	patch(t, s.other, child, `{"data":{"k":"edited"}}`)
	s.expect(t, "App x: c edited")
	s.expectNothingElse(t)
}

// Covers UP D3.
func TestOtherNamespaceAndClusterScope(t *testing.T) {
	s := newScene(t)
	app := s.app(t, "x")
	elsewhere := testkit.Namespace(t, s.client)
	marks := map[string]string{
		"operator-sdk/primary-resource":      s.namespace + "/" + app.GetName(),
		"operator-sdk/primary-resource-type": appGVK.GroupKind().String(),
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: "c", Annotations: marks}}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "role-", Annotations: marks}}
	s.create(t, child)
	s.create(t, role)
	s.watchMaps(t)

	roleGVK := rbacv1.SchemeGroupVersion.WithKind("ClusterRole")
	s.Watch(appGVK, roleGVK) // not asked for: a child without a namespace is not looked at
	patch(t, s.client, role, `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`)
	patch(t, s.client, child, `{"data":{"k":"edited"}}`)
	s.expect(t, "App x: c edited")

	s.addPrimary(dependents.Primary{GVK: appGVK, WatchClusterScoped: true})
	s.Watch(appGVK, roleGVK)
	s.awaitLog(t, "Children are known", "Kind=ClusterRole")
	patch(t, s.client, role, `{"rules":null}`)
	s.expect(t, "App x: "+role.Name+" edited")
	s.expectNothingElse(t)
}

func TestNamespaces(t *testing.T) {
	here := testkit.Namespace(t, testkit.Client(t, testkit.Cluster(t)))
	s := newScene(t, func(c *dependents.Config) { c.Namespaces = []string{here} })
	outside := s.ownedMap("outside", s.app(t, "x"))
	s.create(t, outside)
	s.namespace, s.ours[here] = here, true
	inside := s.ownedMap("inside", s.app(t, "x"))
	s.create(t, inside)
	s.watchMaps(t)

	patch(t, s.other, outside, `{"data":{"k":"edited"}}`)
	patch(t, s.other, inside, `{"data":{"k":"edited"}}`)
	s.expect(t, "App x: inside edited")
	s.expectNothingElse(t)
}

// TestChildOutsideOfTheNamespaces has a child in a namespace that the operator does not watch: told once, and known.
func TestChildOutsideOfTheNamespaces(t *testing.T) {
	s := newScene(t, func(c *dependents.Config) { c.Namespaces = []string{"here"} })
	if !s.Complete(appGVK) {
		t.Error("something is missing before there is a child")
	}
	for _, namespace := range []string{"here", "", "there", "there"} {
		s.Found(appGVK, engine.Child{GVK: mapGVK, Namespace: namespace, Name: "c"})
	}
	s.awaitLog(t, "namespace that is not watched", "there")
	got := s.Unwatched(appGVK)
	if len(got) != 1 || got[0].Reason != dependents.ReasonOutside || !strings.Contains(got[0].String(), "namespace there") {
		t.Errorf("unwatched are %v, want what is in namespace there", got)
	}
	if s.Complete(appGVK) {
		t.Error("a child that is not watched is not missed")
	}
	s.Found(appGVK, engine.Child{GVK: mapGVK, Namespace: "elsewhere", Name: "c"})
	s.awaitLog(t, "namespace that is not watched", "elsewhere")
	if n := s.count("namespace that is not watched", "there"); n != 1 {
		t.Errorf("it was told %d times, want once", n)
	}
}

// TestCoreGroupOwner has owners whose kind is in the core group, which the old tool never recognised in annotations
// (AO 10.1 no. 13).
func TestCoreGroupOwner(t *testing.T) {
	s := newScene(t)
	s.addPrimary(dependents.Primary{GVK: mapGVK})
	elsewhere := testkit.Namespace(t, s.client)
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "owner"}}
	s.create(t, owner)
	child := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: "c", Annotations: map[string]string{
		"operator-sdk/primary-resource": s.namespace + "/owner", "operator-sdk/primary-resource-type": "ConfigMap",
	}}}
	s.create(t, child)
	s.Watch(mapGVK, schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
	s.awaitLog(t, "Children are known", "Kind=Secret")
	patch(t, s.client, child, `{"stringData":{"k":"v"}}`)
	s.expect(t, "ConfigMap owner: c edited")
	s.expectNothingElse(t)
}

// TestControllersWakeNobody lets Kubernetes' own controllers work on a Deployment of which the play set no number of
// replicas, however it was made: D6 of the users' complaints, and sdk#3708 (an autoscaler).
func TestControllersWakeNobody(t *testing.T) {
	for how, create := range map[string]func(*testing.T, *scene, *appsv1.Deployment){
		"created": func(t *testing.T, s *scene, d *appsv1.Deployment) { t.Helper(); s.create(t, d) },
		"applied": func(t *testing.T, s *scene, d *appsv1.Deployment) {
			t.Helper()
			d.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}
			if err := s.client.Patch(t.Context(), d, client.Apply, client.ForceOwnership); err != nil { //nolint:staticcheck // shorter than an apply configuration
				t.Fatal(err)
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			s := newScene(t)
			gvk := appsv1.SchemeGroupVersion.WithKind("Deployment")
			s.Watch(appGVK, gvk)
			s.awaitLog(t, "Children are known", "Kind=Deployment")
			labels := map[string]string{"app": "x"}
			web := &appsv1.Deployment{ObjectMeta: s.ownedMap("web", s.app(t, "x")).ObjectMeta, Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
				},
			}}
			create(t, s, web)
			testkit.Eventually(t, soon, func(ctx context.Context) error {
				if err := s.client.Get(ctx, client.ObjectKeyFromObject(web), web); err != nil {
					return err
				}
				if web.Annotations["deployment.kubernetes.io/revision"] == "" || web.Status.ReadyReplicas == 0 {
					return fmt.Errorf("no controller has been at work: %v", web.Status)
				}
				return nil
			})
			autoscaler := client.WithFieldOwner(testkit.Client(t, s.config), "kube-controller-manager")
			for replicas := range 3 {
				scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: int32(replicas + 2)}}
				if err := autoscaler.SubResource("scale").Update(t.Context(), web, client.WithSubResourceBody(scale)); err != nil {
					t.Fatal(err)
				}
			}
			patch(t, s.other, web, `{"metadata":{"annotations":{"foreign.example.com/n":"1"},"labels":{"foreign":"y"}}}`)
			patch(t, s.other, web, `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:2"}]}}}}`)
			s.expect(t, "App x: web edited")
			s.expectNothingElse(t)
		})
	}
}

func TestForbiddenWatch(t *testing.T) {
	admin := testkit.Cluster(t)
	limited := rest.CopyConfig(admin)
	limited.Impersonate.UserName = "limited-" + testkit.Namespace(t, testkit.Client(t, admin))
	s := newScene(t, func(c *dependents.Config) { c.RESTConfig = limited })
	child := s.ownedMap("c", s.app(t, "x"))
	s.create(t, child)

	s.Watch(appGVK, mapGVK)
	s.awaitLog(t, "Cannot watch children", "Kind=ConfigMap", "Forbidden", "cannot list resource")
	got := s.Unwatched(appGVK)
	if len(got) != 1 || got[0].Child != mapGVK || got[0].Reason != dependents.ReasonForbidden {
		t.Fatalf("unwatched are %v, want ConfigMaps since that is forbidden", got)
	}
	if d := got[0].Denial; d == nil || d.Verb != "list" || d.Resource != "configmaps" {
		t.Errorf("the missing right is %v, want to list configmaps", d)
	}
	if got := s.Unwatched(siteGVK); len(got) != 0 {
		t.Errorf("unwatched for another kind are %v", got)
	}

	s.allow(t, limited.Impersonate.UserName, "list") // half of what is needed
	s.awaitUnwatched(t, "watch")
	s.allow(t, limited.Impersonate.UserName, "watch")
	s.awaitLog(t, "Watching children again")
	if got := s.Unwatched(appGVK); len(got) != 0 {
		t.Errorf("unwatched are still %v", got)
	}
	s.awaitLog(t, "Children are known")
	patch(t, s.other, child, `{"data":{"k":"edited"}}`)
	s.expect(t, "App x: c edited")
}

// awaitUnwatched waits until the right that is missing for ConfigMaps is the given one.
func (s *scene) awaitUnwatched(t *testing.T, verb string) {
	t.Helper()
	testkit.Eventually(t, soon, func(context.Context) error {
		got := s.Unwatched(appGVK)
		if len(got) != 1 || got[0].Denial == nil || got[0].Denial.Verb != verb {
			return fmt.Errorf("unwatched are %v, want for want of the verb %s", got, verb)
		}
		return nil
	})
}

func (s *scene) allow(t *testing.T, user, verb string) {
	t.Helper()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: user + "-" + verb},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{verb}}},
	}
	s.create(t, role)
	s.create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	})
}

// TestKindThatAppears covers a play that installs a CRD and an object of it: the watch follows by itself.
func TestKindThatAppears(t *testing.T) {
	s := newScene(t)
	widget := schema.GroupVersionKind{Group: s.namespace + ".example.com", Version: "v1", Kind: "Widget"}
	s.Watch(appGVK, widget)
	s.awaitLog(t, "Cannot watch children", "NotServed")

	testkit.InstallCRD(t, s.config, widget)
	crd := testkit.CRD(widget)
	t.Cleanup(func() { _ = s.client.Delete(context.Background(), crd) })
	s.awaitLog(t, "Watching children again", "Kind=Widget")
	s.awaitLog(t, "Children are known", "Kind=Widget")
	child := testkit.Object(widget, s.namespace, "c", map[string]any{"size": int64(1)})
	child.SetOwnerReferences(s.ownedMap("c", s.app(t, "x")).OwnerReferences)
	s.create(t, child)
	patch(t, s.other, child, `{"spec":{"size":2}}`)
	s.expect(t, "App x: c edited")

	if err := s.client.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	s.expect(t, "App x: c deleted")
	s.awaitLog(t, "Cannot watch children", "NotServed")

	testkit.InstallCRD(t, s.config, widget)
	s.awaitLog(t, "Watching children again", "Kind=Widget")
	s.awaitLog(t, "Children are known", "Kind=Widget")
	again := testkit.Object(widget, s.namespace, "c", map[string]any{"size": int64(1)})
	again.SetOwnerReferences(child.GetOwnerReferences())
	s.create(t, again)
	patch(t, s.other, again, `{"spec":{"size":2}}`)
	s.expect(t, "App x: c edited")
	s.expectNothingElse(t)
}

// TestKindInAnotherVersion covers a kind of which the version that was asked for is not served (any more).
func TestKindInAnotherVersion(t *testing.T) {
	s := newScene(t)
	served := s.widget(t, "v1beta1")
	child := testkit.Object(served, s.namespace, "c", map[string]any{"size": int64(1)})
	child.SetOwnerReferences(s.ownedMap("c", s.app(t, "x")).OwnerReferences)
	s.create(t, child)
	asked := served
	asked.Version = "v1"
	s.Watch(appGVK, asked)
	s.awaitLog(t, "Children are known", "Kind=Widget")
	patch(t, s.other, child, `{"spec":{"size":2}}`)
	s.expect(t, "App x: c edited")
	s.expectNothingElse(t)
}

// TestOneWatchForAll has two primary kinds with children of one kind.
func TestOneWatchForAll(t *testing.T) {
	requests := newWatchCounter()
	admin := testkit.Cluster(t)
	counted := rest.CopyConfig(admin)
	counted.Wrap(requests.wrap)
	s := newScene(t, func(c *dependents.Config) { c.RESTConfig = counted })
	s.addPrimary(dependents.Primary{GVK: siteGVK, ClusterScoped: true})
	site := testkit.Object(siteGVK, "", "site-"+s.namespace, nil)
	s.create(t, site)
	one, two := s.ownedMap("one", s.app(t, "x")), s.ownedMap("two", site)
	s.create(t, one)
	s.create(t, two)

	s.watchMaps(t)
	s.Watch(siteGVK, mapGVK)
	s.awaitLog(t, "Children are known", "Kind=ConfigMap") // again, since there are new owners to look for
	for range 10 {
		s.Watch(appGVK, mapGVK)
		s.Watch(siteGVK, mapGVK)
	}
	patch(t, s.other, one, `{"data":{"k":"edited"}}`)
	s.expect(t, "App x: one edited")
	patch(t, s.other, two, `{"data":{"k":"edited"}}`)
	s.expect(t, "Site "+site.GetName()+": two edited")
	if open := requests.open(); open != 1 {
		t.Errorf("%d watches are open, want 1 for both", open)
	}
	s.stop()
	if open := requests.open(); open != 0 {
		t.Errorf("%d watches are left open", open)
	}
}

func TestRestartOfAPIServer(t *testing.T) {
	private := testkit.NewPrivate(t)
	s := newSceneAt(t, private.Config(t))
	child := s.ownedMap("c", s.app(t, "x"))
	s.create(t, child)
	s.watchMaps(t)

	private.RestartAPIServer(t)
	patch(t, s.other, child, `{"data":{"k":"edited"}}`)
	s.expect(t, "App x: c edited")
	s.expectNothingElse(t)
}

// TestForeignObjectsCostNothing watches a kind of which there are many big objects that belong to nobody here.
func TestForeignObjectsCostNothing(t *testing.T) {
	s := newScene(t)
	const count, size = 60, 100 << 10
	for i := range count {
		s.create(t, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: fmt.Sprint("foreign-", i)},
			Data:       map[string]string{"k": strings.Repeat("x", size)},
		})
	}
	before := heap()
	s.watchMaps(t)
	if rise := int64(heap()) - int64(before); rise > 2<<20 {
		t.Errorf("memory rises by %d KiB for %d objects of %d KiB, want less than 2 MiB", rise>>10, count, size>>10)
	} else {
		t.Logf("memory rises by %d KiB for %d objects of %d KiB", rise>>10, count, size>>10)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
