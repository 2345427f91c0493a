package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// postRender puts into the stored manifest what helm-operator-plugins put there: namespaces, and owners or annotations.
const postRender = `#!/usr/bin/python3
import os, sys, yaml
docs = [d for d in yaml.safe_load_all(sys.stdin) if d]
for d in docs:
    meta = d["metadata"]
    if d["kind"] == "ClusterRole":
        meta["annotations"] = {"operator-sdk/primary-resource": "NAMESPACE/thing", "operator-sdk/primary-resource-type": "Thing.GROUP"}
    else:
        meta["namespace"] = "NAMESPACE"
        meta["ownerReferences"] = [{"apiVersion": "GROUP/v1", "kind": "Thing", "name": "thing", "uid": "UID", "controller": True, "blockOwnerDeletion": True}]
yaml.safe_dump_all(docs, sys.stdout)
`

// leftBy are the tools whose resources are taken over: what each has left on the resource, on the release's record and on
// its objects.
var leftBy = map[string]struct {
	finalizer string
	postRends bool
	marks     bool // objects have owners and annotations that are not in the stored manifest, and a label
	manifest  bool // is in the resource's status
}{
	"stock helm":            {},
	"helm-operator":         {finalizer: "helm.sdk.operatorframework.io/uninstall-release", marks: true, manifest: true},
	"old helm-operator":     {finalizer: "uninstall-helm-release", marks: true, manifest: true},
	"helm-operator-plugins": {finalizer: "uninstall-helm-release", postRends: true, manifest: true},
}

// Covers HO 11.5 no. 10.
func TestReleasesOfOtherToolsAreTakenOver(t *testing.T) {
	t.Parallel()
	for tool, left := range leftBy {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			o, gvk := withChart(t, deployed, "  overrideValues:\n    message: from-the-watch\n")
			thing := o.create(gvk, "thing", map[string]any{}, func(obj *unstructured.Unstructured) {
				if left.finalizer != "" {
					obj.SetFinalizers([]string{left.finalizer})
				}
			})
			install := []string{"install", "thing", filepath.Join(o.dir, "chart"), "--set-string", "message=from-the-watch"}
			if left.postRends {
				o.write("post.py", strings.NewReplacer("GROUP", gvk.Group, "UID", string(thing.GetUID())).Replace(postRender))
				if err := os.Chmod(filepath.Join(o.dir, "post.py"), 0o755); err != nil {
					t.Fatal(err)
				}
				install = append(install, "--post-renderer", filepath.Join(o.dir, "post.py"))
			}
			o.helm(install...)
			if left.finalizer != "" {
				o.leaveRecord(thing)
			}
			if left.marks {
				o.leaveMarks(thing)
			}
			if left.manifest {
				o.leaveStatus(thing)
			}
			before := o.identities()

			o.start()
			after := o.eventually(gvk, "thing", ready)
			if release, _, _ := unstructured.NestedMap(after.Object, "status", "deployedRelease"); release["manifest"] != nil || release["version"] != int64(1) {
				t.Errorf("status says of the release: %v", release)
			}
			if got := o.history("thing"); !slices.Equal(got, []string{"deployed"}) {
				t.Errorf("history is %v", got)
			}
			if now := o.identities(); now != before {
				t.Errorf("objects were made anew: %s, before %s", now, before)
			}
			o.delete(thing)
			o.gone(gvk, "thing")
			o.gone(configMaps, "thing")
			o.gone(clusterRoleKind, o.namespace+"-thing")
			if got := o.history("thing"); got != nil {
				t.Errorf("history is left: %v", got)
			}
		})
	}
}

func ownerOf(obj *unstructured.Unstructured) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{
		APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Name: obj.GetName(), UID: obj.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes,
	}}
}

// leaveRecord gives the release's record its owner.
func (o *operator) leaveRecord(owner *unstructured.Unstructured) {
	o.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "sh.helm.release.v1.thing.v1"}}
	patch := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{OwnerReferences: ownerOf(owner)}}
	patch.Namespace, patch.Name = secret.Namespace, secret.Name
	if err := o.client.Patch(o.t.Context(), patch, client.MergeFrom(secret)); err != nil {
		o.t.Fatal(err)
	}
}

// leaveMarks puts on objects what helm-operator put there.
func (o *operator) leaveMarks(owner *unstructured.Unstructured) {
	o.t.Helper()
	for _, child := range o.children() {
		o.edit(child, func(obj *unstructured.Unstructured) {
			labels := obj.GetLabels()
			labels["helm.sdk.operatorframework.io/chart"] = "thing"
			obj.SetLabels(labels)
			if obj.GetKind() != "ClusterRole" {
				obj.SetOwnerReferences(ownerOf(owner))
				return
			}
			annotations := obj.GetAnnotations()
			annotations["operator-sdk/primary-resource"] = o.namespace + "/thing"
			annotations["operator-sdk/primary-resource-type"] = "Thing." + owner.GroupVersionKind().Group
			obj.SetAnnotations(annotations)
		})
	}
}

// leaveStatus writes the status of helm-operator.
func (o *operator) leaveStatus(owner *unstructured.Unstructured) {
	o.t.Helper()
	edited := owner.DeepCopy()
	edited.Object["status"] = map[string]any{
		"conditions": []any{
			map[string]any{"type": "Initialized", "status": "True", "lastTransitionTime": "2025-01-01T00:00:00Z"},
			map[string]any{"type": "Deployed", "status": "True", "reason": "InstallSuccessful", "lastTransitionTime": "2025-01-01T00:00:00Z"},
		},
		"deployedRelease": map[string]any{"name": "thing", "manifest": "kind: Secret\nstringData: {password: for-everyone}\n"},
	}
	if err := o.client.Status().Patch(o.t.Context(), edited, client.MergeFrom(owner)); err != nil {
		o.t.Fatal(err)
	}
}

// children returns the chart's objects.
func (o *operator) children() []*unstructured.Unstructured {
	o.t.Helper()
	return []*unstructured.Unstructured{
		o.eventually(configMaps, "thing", exists), o.eventually(deploymentKind, "thing", exists),
		o.eventually(clusterRoleKind, o.namespace+"-thing", exists),
	}
}

func (o *operator) identities() string {
	o.t.Helper()
	var out []string
	for _, child := range o.children() {
		out = append(out, fmt.Sprint(child.GetKind(), " ", child.GetUID()))
	}
	return strings.Join(out, ", ")
}
