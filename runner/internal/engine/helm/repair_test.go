package helm

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

func TestDeletedAndEditedChildrenArePutBack(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	result := w.did(e, verified(job), engine.ActionNone)
	if len(result.Writes) != 0 {
		t.Errorf("a look at untouched children wrote %+v", result.Writes)
	}
	t.Logf("a look at %d children takes %d requests", len(result.Children), result.APIRequests)

	w.delete(services, w.namespace, "one")
	w.patch(w.get(configMaps, w.namespace, "one-config"), func(o *unstructured.Unstructured) {
		o.Object["data"] = map[string]any{"message": "edited", "foreign": "stays"}
		o.SetAnnotations(map[string]string{"foreign": "stays"})
		o.SetOwnerReferences(nil)
	})
	w.patch(w.get(deployments, w.namespace, "one"), func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, int64(3), "spec", "replicas")
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		containers = append(containers, map[string]any{"name": "sidecar", "image": "example.com/side:1"})
		_ = unstructured.SetNestedSlice(o.Object, containers, "spec", "template", "spec", "containers")
	})
	// Without a look nobody notices, which is why the controller asks for one when a child has changed.
	w.did(e, job, engine.ActionNone)

	again := verified(job)
	events := listen(&again)
	result = w.did(e, again, engine.ActionRepair)
	if result.Release.Version != 1 || len(w.revisions("one")) != 1 {
		t.Errorf("the repair made a revision: %+v", result.Release)
	}
	service := w.get(services, w.namespace, "one")
	if !ownedBy(service, job.Owner) || !hasHelmMarks(service, "one", w.namespace) || service.GetLabels()[managedByLabel] != "Helm" {
		t.Errorf("the Service that was made anew is not marked: %v %v", service.GetLabels(), service.GetAnnotations())
	}
	config := w.get(configMaps, w.namespace, "one-config")
	data := config.Object["data"].(map[string]any)
	if data["message"] != "hello" || data["foreign"] != "stays" || config.GetAnnotations()["foreign"] != "stays" {
		t.Errorf("the ConfigMap holds %v, annotations %v", data, config.GetAnnotations())
	}
	if !ownedBy(config, job.Owner) {
		t.Errorf("the owner was not put back: %v", config.GetOwnerReferences())
	}
	deployment := w.get(deployments, w.namespace, "one")
	containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if replicas, _, _ := unstructured.NestedInt64(deployment.Object, "spec", "replicas"); replicas != 1 || len(containers) != 2 {
		t.Errorf("the Deployment has %d replicas and %d containers", replicas, len(containers))
	}
	var told []string
	for _, event := range events() {
		told = append(told, event.Task+": "+event.Message)
	}
	for _, want := range []string{"Service/one: created again", "ConfigMap/one-config: put back data.message", "Deployment/one: put back spec.replicas"} {
		if !strings.Contains(strings.Join(told, "\n"), want) {
			t.Errorf("nothing was told like %q:\n%s", want, strings.Join(told, "\n"))
		}
	}
	w.did(e, verified(job), engine.ActionNone)
	w.did(w.engine("plain"), verified(job), engine.ActionNone)
}

func TestNoPerpetualPatches(t *testing.T) {
	w := newWorld(t)
	gvk := schema.GroupVersionKind{Group: appKind.Group, Version: "v1", Kind: "Widget"}
	testkit.InstallCRD(t, w.config, gvk, func(crd *crdType) {
		// Prunes all but spec.known, and fills in a default in each item.
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = strictSpec()
	})
	dir := copyChart(t, "random")
	writeFile(t, dir+"/templates/widget.yaml", `
apiVersion: `+appKind.Group+`/v1
kind: Widget
metadata: {name: {{ .Release.Name }}}
spec: {known: a, unknown: pruned, items: [{x: 1}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: {{ .Release.Name }}}
spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: {{ .Release.Name }}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}
`)
	e := w.engine(dir)
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	first := w.did(e, verified(job), engine.ActionNone) // may try once
	second := w.did(e, verified(job), engine.ActionNone)
	if len(second.Writes) != 0 || second.APIRequests >= first.APIRequests {
		t.Errorf("requests: first look %d, second %d with writes %+v", first.APIRequests, second.APIRequests, second.Writes)
	}
	w.patch(w.get(gvk, w.namespace, "one"), func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, "edited", "spec", "known")
	})
	w.did(e, verified(job), engine.ActionRepair)
	if got, _, _ := unstructured.NestedString(w.get(gvk, w.namespace, "one").Object, "spec", "known"); got != "a" {
		t.Errorf("the custom resource holds %q", got)
	}
}

func TestOneFailingChildDoesNotStopTheOthers(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	w.delete(deployments, w.namespace, "one")
	imposter := &unstructured.Unstructured{}
	if err := imposter.UnmarshalJSON(fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"one","namespace":%q},
		"spec":{"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}},
		"spec":{"containers":[{"name":"c","image":"example.com/c:1"}]}}}}`, w.namespace)); err != nil {
		t.Fatal(err)
	}
	if err := w.client.Create(t.Context(), imposter); err != nil {
		t.Fatal(err)
	}
	w.delete(services, w.namespace, "one")

	result := w.run(e, verified(job), engine.Transient)
	if result.Reason != engine.ReasonReconcileFailed || len(result.Failures) != 1 || result.Failures[0].Name != "Deployment/one" {
		t.Fatalf("reason %s, failures %+v", result.Reason, result.Failures)
	}
	if !strings.Contains(result.Message, "immutable") || !strings.Contains(result.Message, "delete the object") {
		t.Errorf("the message does not help: %q", result.Message)
	}
	if !w.exists(services, w.namespace, "one") {
		t.Error("the Service was not put back")
	}
	w.delete(deployments, w.namespace, "one")
	// The next run has to look again, whether it is asked to or not.
	w.did(e, job, engine.ActionRepair)
}

func TestReleaseDeletedByHandIsInstalledAgain(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	uid := w.get(deployments, w.namespace, "one").GetUID()
	w.delete(secrets, w.namespace, secretName("one", 1))
	w.did(e, verified(job), engine.ActionInstall)
	if got := w.get(deployments, w.namespace, "one").GetUID(); got != uid {
		t.Error("the Deployment was made anew instead of being adopted")
	}
	w.delete(secrets, w.namespace, secretName("one", 1))
	w.run(e, finalize(job), engine.Succeeded)
}

func TestChildThatIsBeingDeletedIsMadeAnewOnceGone(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	w.patch(w.get(configMaps, w.namespace, "one-config"), func(o *unstructured.Unstructured) {
		o.SetFinalizers([]string{"example.com/held"})
	})
	w.delete(configMaps, w.namespace, "one-config")
	result := w.run(e, verified(job), engine.Succeeded)
	if result.RetryAfter == 0 {
		t.Error("nobody will look again")
	}
	w.patch(w.get(configMaps, w.namespace, "one-config"), func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
	w.did(e, job, engine.ActionRepair)
	if !w.exists(configMaps, w.namespace, "one-config") {
		t.Error("the ConfigMap was not made anew")
	}
}

// A Job that is deleted when it has finished would be run again and again.
func TestFinishedJobsAreNotRunAgain(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "keep")
	writeFile(t, dir+"/templates/job.yaml", `
apiVersion: batch/v1
kind: Job
metadata: {name: {{ .Release.Name }}}
spec:
  ttlSecondsAfterFinished: 3600
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.com/job:1}]}}
`)
	e := w.engine(dir)
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	w.delete(jobs, w.namespace, "one") // as the TTL controller does
	w.did(e, verified(job), engine.ActionNone)
	if w.exists(jobs, w.namespace, "one") {
		t.Error("the Job is there again")
	}
}
