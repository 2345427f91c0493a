package helm

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// terminate begins the deletion of the namespace, which the resource of this name holds up.
func (w *world) terminate(name string) {
	w.t.Helper()
	w.patch(w.resource(name), func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"example.com/held"}) })
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	if err := w.client.Delete(w.t.Context(), namespace); err != nil {
		w.t.Fatal(err)
	}
}

func TestNamespaceThatIsBeingDeleted(t *testing.T) {
	w := newWorld(t)
	e := w.engine("hooks")
	job := w.job("one", hooks("pre-delete", "hang"))
	w.did(e, job, engine.ActionInstall)
	secret := w.record("one", 1)
	secret.Finalizers = []string{"example.com/held"} // else the namespace's deletion may be faster than the test
	if err := w.client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	w.terminate("one")
	result := w.run(e, w.later(job), engine.Waiting)
	if result.Reason != engine.ReasonTerminating || len(result.Denials) != 0 {
		t.Errorf("reason %s, message %q, denials %+v", result.Reason, result.Message, result.Denials)
	}
	// The hook cannot run any more, and must not hold the namespace.
	final, err := e.Run(t.Context(), finalize(job))
	if err != nil || final.Outcome != engine.Changed {
		t.Errorf("outcome %s: %s", final.Outcome, final.Message)
	}
	w.patch(w.get(appKind, w.namespace, "one"), func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
}

// later returns the job for another resource of the same namespace, which cannot be made any more.
func (w *world) later(job engine.Job) engine.Job {
	job.Owner.Name, job.Owner.UID = "later", "99999999-2222-3333-4444-555555555555"
	return job
}

// The namespace's deletion takes the record first, and the operator was not there.
func TestUninstallWithoutRecordAndMemory(t *testing.T) {
	w := newWorld(t)
	other := w.otherNamespace()
	job := w.job("one", map[string]any{"otherNamespace": other})
	w.did(w.engine("wide"), job, engine.ActionInstall)
	w.delete(secrets, w.namespace, secretName("one", 1))
	deletion := finalize(job)
	deletion.Inputs = job.Inputs
	w.run(w.engine("wide"), deletion, engine.Succeeded)
	name := w.namespace + "-one"
	if w.exists(clusterRoles, "", name) || w.exists(configMaps, other, name) {
		t.Error("something is left")
	}
}
