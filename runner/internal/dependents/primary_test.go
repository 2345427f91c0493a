package dependents

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

var (
	appGVK  = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "App"}
	siteGVK = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Site"}
	podGVK  = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

	mapGVK = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

func TestOwnershipOf(t *testing.T) {
	app := &Primary{GVK: appGVK}
	site := &Primary{GVK: siteGVK, ClusterScoped: true}
	pod := &Primary{GVK: podGVK}
	key := func(gvk schema.GroupVersionKind, namespace, name string) ownerKey {
		return ownerKey{kind: gvk.GroupKind(), name: types.NamespacedName{Namespace: namespace, Name: name}}
	}
	for _, tc := range []struct {
		why      string
		metadata string
		want     []ownerKey
	}{
		{
			why:      "an owner in the same namespace",
			metadata: `{namespace: a, ownerReferences: [{apiVersion: example.com/v1, kind: App, name: x, uid: u}]}`,
			want:     []ownerKey{key(appGVK, "a", "x")},
		},
		{
			why:      "the reference was written in an older version of the owner's kind",
			metadata: `{namespace: a, ownerReferences: [{apiVersion: example.com/v1alpha1, kind: App, name: x, uid: u}]}`,
			want:     []ownerKey{key(appGVK, "a", "x")},
		},
		{
			why:      "a cluster-scoped owner has no namespace",
			metadata: `{namespace: a, ownerReferences: [{apiVersion: example.com/v1, kind: Site, name: x, uid: u}]}`,
			want:     []ownerKey{key(siteGVK, "", "x")},
		},
		{
			why:      "the same kind in another group is somebody else",
			metadata: `{namespace: a, ownerReferences: [{apiVersion: example.org/v1, kind: App, name: x, uid: u}]}`,
		},
		{
			why:      "a child in another namespace names its owner by annotation",
			metadata: `{namespace: b, annotations: {operator-sdk/primary-resource: a/x, operator-sdk/primary-resource-type: App.example.com}}`,
			want:     []ownerKey{key(appGVK, "a", "x")},
		},
		{
			why:      "a kind of the core group has no dot in its annotation; the old tool never recognised it again",
			metadata: `{namespace: b, annotations: {operator-sdk/primary-resource: a/x, operator-sdk/primary-resource-type: Pod}}`,
			want:     []ownerKey{key(podGVK, "a", "x")},
		},
		{
			why:      "an annotation may name a cluster-scoped owner",
			metadata: `{namespace: b, annotations: {operator-sdk/primary-resource: x, operator-sdk/primary-resource-type: Site.example.com}}`,
			want:     []ownerKey{key(siteGVK, "", "x")},
		},
		{
			why:      "an annotation that is no name is nobody's",
			metadata: `{namespace: b, annotations: {operator-sdk/primary-resource: a/b/c, operator-sdk/primary-resource-type: App.example.com}}`,
		},
		{
			why: "both ways to name one owner make one owner",
			metadata: `{namespace: a, ownerReferences: [{apiVersion: example.com/v1, kind: App, name: x, uid: u}],
			  annotations: {operator-sdk/primary-resource: a/x, operator-sdk/primary-resource-type: App.example.com}}`,
			want: []ownerKey{key(appGVK, "a", "x")},
		},
		{
			why: "a child may have several owners",
			metadata: `{namespace: a, ownerReferences: [{apiVersion: example.com/v1, kind: App, name: x, uid: u},
			  {apiVersion: example.com/v1, kind: App, name: w, uid: v}]}`,
			want: []ownerKey{key(appGVK, "a", "x"), key(appGVK, "a", "w")},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := ownershipOf(parse(t, "metadata: "+tc.metadata), []*Primary{app, site, pod})
			if diff := cmp.Diff(tc.want, got.owners, cmp.AllowUnexported(ownerKey{})); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhichChildrenAreWanted(t *testing.T) {
	for _, tc := range []struct {
		why           string
		primary       Primary
		clusterScoped bool
		want          bool
	}{
		{why: "namespaced children always are", want: true},
		{why: "cluster-scoped ones of a namespaced kind only if asked for", clusterScoped: true},
		{why: "cluster-scoped ones of a namespaced kind when asked for", primary: Primary{WatchClusterScoped: true}, clusterScoped: true, want: true},
		{why: "cluster-scoped ones of a cluster-scoped kind have an owner reference like any other", primary: Primary{ClusterScoped: true}, clusterScoped: true, want: true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := tc.primary.wants(tc.clusterScoped); got != tc.want {
				t.Errorf("wants(%v) = %v, want %v", tc.clusterScoped, got, tc.want)
			}
		})
	}
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
		t.Fatal(err)
	}
	return obj
}
