package proxy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// applied is a ConfigMap as a template has it.
func applied(namespace, name, metadata string) []byte {
	return []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  namespace: " + namespace + "\n" + metadata + "data: {k: v}\n")
}

// apply sends a server-side apply and returns what became of the object.
func apply(t *testing.T, session *proxy.Session, manager string, obj []byte, namespace, name string) *corev1.ConfigMap {
	t.Helper()
	maps := must(kubernetes.NewForConfig(through(t, session))).CoreV1().ConfigMaps(namespace)
	got, err := maps.Patch(t.Context(), name, types.ApplyYAMLPatchType, obj, metav1.PatchOptions{FieldManager: manager})
	if err != nil {
		t.Fatalf("apply %s as %s: %v", name, manager, err)
	}
	return got
}

// ownersOfReference returns the field managers that own the reference to an owner.
func ownersOfReference(obj *corev1.ConfigMap, uid types.UID) []string {
	var managers []string
	for _, f := range obj.ManagedFields {
		if fields := f.FieldsV1.GetRawString(); strings.Contains(fields, `f:ownerReferences`) && strings.Contains(fields, string(uid)) {
			managers = append(managers, f.Manager)
		}
	}
	slices.Sort(managers)
	return managers
}

// TestApplyCreates covers C11 and AO 10.1 no. 14: what a server-side apply creates is owned, once, for good, and
// whoever applies it owns the entry.
func TestApplyCreates(t *testing.T) {
	s := newRealStage(t)
	app := s.app(t, "x")
	first := s.open(t, app)
	obj := applied(s.namespace, "c", "")
	created := apply(t, first, "one", obj, s.namespace, "c")
	if diff := cmp.Diff(reference(app), created.OwnerReferences); diff != "" {
		t.Fatalf("owner references (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"one"}, ownersOfReference(created, app.UID)); diff != "" {
		t.Errorf("who owns the reference (-want +got):\n%s", diff)
	}
	if n := s.children.list(); !slices.Contains(n, "App > ConfigMap") {
		t.Errorf("watched kinds are %v, want ConfigMap among them", n)
	}
	if again := apply(t, first, "one", obj, s.namespace, "c"); again.ResourceVersion != created.ResourceVersion {
		t.Error("to apply the same again changes the object")
	}
	if report := first.Close(); report.Requests != 3 { // find, apply, apply
		t.Errorf("%d requests, want 3: what this run made is known to be its own", report.Requests)
	}

	later := s.open(t, app)
	second := apply(t, later, "two", obj, s.namespace, "c")
	third := apply(t, later, "one", obj, s.namespace, "c")
	if diff := cmp.Diff(reference(app), third.OwnerReferences); diff != "" {
		t.Errorf("owner references after another manager's apply (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"one", "two"}, ownersOfReference(third, app.UID)); diff != "" {
		t.Errorf("who owns the reference (-want +got):\n%s", diff)
	}
	if third.ResourceVersion != second.ResourceVersion {
		t.Error("a run that changes nothing changes the object")
	}
}

// TestApplyToWhatExists applies to objects that an administrator made.
func TestApplyToWhatExists(t *testing.T) {
	s := newRealStage(t)
	app, other := s.app(t, "x"), s.app(t, "other")
	strict := reference(app)
	strict[0].Controller, strict[0].BlockOwnerDeletion = new(true), new(true)
	for name, tc := range map[string]struct {
		why      string
		have     []metav1.OwnerReference
		metadata string
		want     []metav1.OwnerReference
	}{
		"foreign":   {why: "to be changed by a playbook is not to belong to it: it would be deleted with the resource"},
		"others":    {why: "somebody else's stays that", have: reference(other), want: reference(other)},
		"own":       {why: "the resource's own keeps its owner", have: reference(app), want: reference(app)},
		"strict":    {why: "a reference with more in it stays as it is, without a conflict", have: strict, want: strict},
		"both":      {why: "two owners stay two", have: append(reference(other), reference(app)...), want: append(reference(other), reference(app)...)},
		"named":     {why: "a template that names the owner names it once (C12)", have: reference(app), metadata: owners(app), want: reference(app)},
		"named-new": {why: "a template that names another owner of an own object adds it", have: reference(app), metadata: owners(other), want: append(reference(other), reference(app)...)},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, OwnerReferences: tc.have}}
			if err := s.admin.Create(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
			session := s.open(t, app)
			for _, manager := range []string{"one", "one", "two"} {
				got := apply(t, session, manager, applied(s.namespace, name, tc.metadata), s.namespace, name)
				if diff := cmp.Diff(tc.want, got.OwnerReferences); diff != "" {
					t.Errorf("%s: owner references (-want +got):\n%s", tc.why, diff)
				}
			}
		})
	}
}

// owners is how a template names an owner.
func owners(o engine.Owner) string {
	return "  ownerReferences:\n  - {apiVersion: " + o.APIVersion + ", kind: " + o.Kind + ", name: " + o.Name + ", uid: " + string(o.UID) + "}\n"
}

// TestApplyAcrossScopes has the four combinations (D2) for server-side apply.
func TestApplyAcrossScopes(t *testing.T) {
	acrossScopes(t, func(t *testing.T, s *realStage, owner engine.Owner, child client.Object) {
		t.Helper()
		c := testkit.Client(t, through(t, s.open(t, owner)))
		child.SetName("applied-" + s.namespace + "-" + strings.ToLower(owner.Kind))
		gvk := must(c.GroupVersionKindFor(child))
		child.GetObjectKind().SetGroupVersionKind(gvk)
		for range 2 {
			obj := testkit.Object(gvk, child.GetNamespace(), child.GetName(), nil)
			if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner("one")); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(child), child); err != nil {
			t.Fatal(err)
		}
	})
}

// TestUpdates sends updates, in both formats of typed clients, of a kind of which the API server lets an update create
// an object.
// Covers UP C11.
func TestUpdates(t *testing.T) {
	s := newRealStage(t)
	app, other := s.app(t, "x"), s.app(t, "other")
	for _, format := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		for _, tc := range []struct {
			why    string
			exists bool
			have   []metav1.OwnerReference
			sent   []metav1.OwnerReference
			want   []metav1.OwnerReference
		}{
			{why: "an update that creates", want: reference(app)},
			{why: "one with another owner", sent: reference(other), want: append(reference(other), reference(app)...)},
			{why: "a template that says nothing of owners does not take one away", exists: true, have: reference(app), want: reference(app)},
			{why: "one that says something does", exists: true, have: reference(app), sent: reference(other), want: reference(other)},
			{why: "what is somebody else's is not adopted", exists: true},
			{why: "what was read and is written again stays as it was", exists: true, have: reference(app), sent: reference(app), want: reference(app)},
		} {
			t.Run(format+"/"+tc.why, func(t *testing.T) {
				config := through(t, s.open(t, app))
				config.ContentType = format
				leases := must(kubernetes.NewForConfig(config)).CoordinationV1().Leases(s.namespace)
				lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "l", OwnerReferences: tc.have}}
				if tc.exists {
					if err := s.admin.Create(t.Context(), lease); err != nil {
						t.Fatal(err)
					}
				}

				defer func() { _ = s.admin.Delete(t.Context(), lease) }()
				got, err := leases.Update(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l", ResourceVersion: lease.ResourceVersion, OwnerReferences: tc.sent}}, metav1.UpdateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got.OwnerReferences); diff != "" {
					t.Errorf("owner references (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestUpdateOfClusterScopedKind creates by an update where a reference would be illegal.
func TestUpdateOfClusterScopedKind(t *testing.T) {
	s := newRealStage(t)
	roles := must(kubernetes.NewForConfig(through(t, s.open(t, s.app(t, "x"))))).RbacV1().ClusterRoles()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "updated-" + s.namespace}}
	s.cleanUp(t, role)
	for range 2 {
		got, err := roles.Update(t.Context(), role, metav1.UpdateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Annotations["operator-sdk/primary-resource"] != s.namespace+"/x" || len(got.OwnerReferences) != 0 {
			t.Errorf("annotations are %v and references %v, want the former only", got.Annotations, got.OwnerReferences)
		}
	}
}

// TestOtherPatchesAreLeftAlone disowns an object in the ways by which a playbook may mean it.
func TestOtherPatchesAreLeftAlone(t *testing.T) {
	s := newRealStage(t)
	app := s.app(t, "x")
	for kind, patch := range map[types.PatchType]string{
		types.MergePatchType:          `{"metadata":{"ownerReferences":null}}`,
		types.StrategicMergePatchType: `{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"` + string(app.UID) + `"}]}}`,
		types.JSONPatchType:           `[{"op":"remove","path":"/metadata/ownerReferences"}]`,
	} {
		t.Run(string(kind), func(t *testing.T) {
			maps := must(kubernetes.NewForConfig(through(t, s.open(t, app)))).CoreV1().ConfigMaps(s.namespace)
			made := must(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}}, metav1.CreateOptions{}))
			got, err := maps.Patch(t.Context(), made.Name, kind, []byte(patch), metav1.PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.OwnerReferences) != 0 {
				t.Errorf("owner references are %v, want none", got.OwnerReferences)
			}
			// The run knows now that it is nobody's.
			if again := apply(t, s.open(t, app), "one", applied(s.namespace, made.Name, ""), s.namespace, made.Name); len(again.OwnerReferences) != 0 {
				t.Errorf("an apply gives it the references %v back", again.OwnerReferences)
			}
		})
	}
}

// TestSwitchedOffForAppliesToo has --inject-owner-ref=false.
func TestSwitchedOffForAppliesToo(t *testing.T) {
	s := newRealStage(t, func(c *proxy.Config) { c.InjectOwner = false })
	session := s.open(t, s.app(t, "x"))
	if got := apply(t, session, "one", applied(s.namespace, "c", ""), s.namespace, "c"); len(got.OwnerReferences) != 0 {
		t.Errorf("owner references are %v, want none", got.OwnerReferences)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l"}}
	if got := must(must(kubernetes.NewForConfig(through(t, session))).CoordinationV1().Leases(s.namespace).Update(t.Context(), lease, metav1.UpdateOptions{})); len(got.OwnerReferences) != 0 {
		t.Errorf("owner references are %v, want none", got.OwnerReferences)
	}
	if report := session.Close(); report.Requests != 2 {
		t.Errorf("%d requests, want 2: nothing is looked up", report.Requests)
	}
}
