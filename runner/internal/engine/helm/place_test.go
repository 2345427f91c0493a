package helm

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

var clusterKind = schema.GroupVersionKind{Group: appKind.Group, Version: "v1", Kind: "ClusterApp"}

// at returns what puts all releases into a namespace.
func at(namespace string) func(*Config) {
	return func(c *Config) { c.Namespace = func(engine.Owner) (string, error) { return namespace, nil } }
}

// clusterJob returns a job for a cluster-scoped resource of this name, which is made.
func (w *world) clusterJob(name string, values map[string]any) engine.Job {
	w.t.Helper()
	testkit.InstallCRD(w.t, w.config, clusterKind, testkit.ClusterScoped)
	obj := testkit.Object(clusterKind, "", name, map[string]any{})
	if err := w.client.Create(w.t.Context(), obj); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := w.client.Delete(context.Background(), obj); err != nil {
			w.t.Errorf("delete %s: %v", name, err)
		}
	})
	return engine.Job{
		ID: "test", Mode: engine.Reconcile, Trigger: engine.TriggerSpec, Attempt: 1, Inputs: values,
		Owner: engine.Owner{APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Name: name, UID: obj.GetUID(), Generation: 1},
	}
}

func TestClusterScopedResource(t *testing.T) {
	w := newWorld(t)
	other := w.otherNamespace()
	job := w.clusterJob("cluster-"+w.namespace, map[string]any{"otherNamespace": other})
	name := job.Owner.Name
	result := w.run(w.engine("wide"), job, engine.Permanent)
	if result.Reason != engine.ReasonReleaseName || !strings.Contains(result.Message, "releaseNamespace") {
		t.Errorf("without a namespace: reason %s, message %q", result.Reason, result.Message)
	}
	e := w.engine("wide", at(w.namespace))
	w.did(e, job, engine.ActionInstall)
	for _, obj := range []struct {
		kind            schema.GroupVersionKind
		namespace, name string
	}{
		{secrets, w.namespace, secretName(name, 1)}, {configMaps, w.namespace, name},
		{configMaps, other, w.namespace + "-" + name}, {clusterRoles, "", w.namespace + "-" + name},
	} {
		if live := w.get(obj.kind, obj.namespace, obj.name); !ownedBy(live, job.Owner) {
			t.Errorf("%s %s has owners %v", obj.kind.Kind, obj.name, live.GetOwnerReferences())
		}
	}
	w.did(w.engine("wide", at(w.namespace)), job, engine.ActionNone)
	w.delete(configMaps, other, w.namespace+"-"+name)
	w.did(e, verified(job), engine.ActionRepair)
	w.run(e, finalize(job), engine.Changed)
	if w.exists(clusterRoles, "", w.namespace+"-"+name) || w.exists(configMaps, w.namespace, name) || w.revisions(name) != nil {
		t.Error("something is left")
	}
}

// The garbage collector would delete a record whose owner is in another namespace.
func TestReleaseInAnotherNamespace(t *testing.T) {
	w := newWorld(t)
	target := w.otherNamespace()
	there := *w
	there.namespace = target
	job := w.job("one", map[string]any{"message": "first"})
	e := w.engine("plain", at(target))
	w.did(e, job, engine.ActionInstall)
	record := there.record("one", 1)
	if len(record.OwnerReferences) != 0 || !strings.Contains(record.Annotations[ownerAnnotation], string(job.Owner.UID)) {
		t.Errorf("the record has owners %v and annotations %v", record.OwnerReferences, record.Annotations)
	}
	if child := w.get(configMaps, target, "one-config"); len(child.GetOwnerReferences()) != 0 || child.GetAnnotations()[primaryAnnotation] != w.namespace+"/one" {
		t.Errorf("the child has owners %v and annotations %v", child.GetOwnerReferences(), child.GetAnnotations())
	}
	w.did(w.engine("plain", at(target)), job, engine.ActionNone)
	job.Inputs = map[string]any{"message": "second"}
	w.did(e, job, engine.ActionUpgrade)

	// A resource of the same name in a third namespace has no right to it.
	third := *w
	third.namespace = w.otherNamespace()
	stranger := third.job("one", nil)
	if result := third.run(third.engine("plain", at(target)), stranger, engine.Permanent); result.Reason != engine.ReasonReleaseTaken {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	third.run(third.engine("plain", at(target)), finalize(stranger), engine.Succeeded)
	if !w.exists(configMaps, target, "one-config") {
		t.Fatal("a stranger's end took the release along")
	}

	// One of the same name and namespace is the same resource, restored from a backup.
	w.delete(appKind, w.namespace, "one")
	restored := w.job("one", map[string]any{"message": "second"})
	w.did(w.engine("plain", at(target)), restored, engine.ActionNone)
	w.run(e, finalize(restored), engine.Changed)
	if w.exists(configMaps, target, "one-config") || there.revisions("one") != nil {
		t.Error("something is left")
	}
}
