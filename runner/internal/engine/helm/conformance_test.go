package helm

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/enginetest"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

func TestConformance(t *testing.T) {
	enginetest.Conformance(t, func(t *testing.T) enginetest.Harness {
		t.Helper()
		w := newWorld(t)
		return enginetest.Harness{
			Engine:      func(_ *testing.T, s enginetest.Scenario) engine.Engine { return w.conforming(s) },
			Job:         func(_ *testing.T, s enginetest.Scenario, owner string) engine.Job { return w.conformanceJob(s, owner) },
			Effects:     func(_ *testing.T, owner string) []string { return w.effects(owner) },
			WaitRunning: func(_ *testing.T, job engine.Job) { w.waitForHook(job.Owner.Name) },
		}
	})
}

func (w *world) conforming(s enginetest.Scenario) *Engine {
	if s == enginetest.Broken {
		return w.engine("broken")
	}
	return w.engine("conformance")
}

func (w *world) conformanceJob(s enginetest.Scenario, owner string) engine.Job {
	w.t.Helper()
	job := w.job(owner, map[string]any{"scenario": string(s)})
	job.ID = ""
	if s == enginetest.Leak {
		job.Inputs["hidden"] = enginetest.Secret
	}
	if s == enginetest.Wait { // for stock Helm to be done with the release
		w.stockInstall("conformance", owner, map[string]any{"scenario": "Apply"})
		w.setStatus(owner, 1, release.StatusPendingUpgrade)
	}
	return job
}

// effects lists the owner's objects, releases and their versions.
func (w *world) effects(owner string) []string {
	w.t.Helper()
	var out []string
	for _, gvk := range []string{"v1 ConfigMap", "v1 Service", "v1 Secret"} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("v1")
		list.SetKind(gvk[3:] + "List")
		if err := w.client.List(context.Background(), list, kube.InNamespace(w.namespace)); err != nil {
			w.t.Fatalf("list %s: %v", gvk, err)
		}
		for _, obj := range list.Items {
			refs := obj.GetOwnerReferences()
			if slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return r.Name == owner }) {
				out = append(out, fmt.Sprint(gvk, " ", obj.GetName(), " ", obj.GetResourceVersion()))
			}
		}
	}
	return out
}

func (w *world) waitForHook(owner string) { w.t.Helper(); w.waitForJob(owner + "-hook") }

// waitForJob waits until a Job is there.
func (w *world) waitForJob(name string) {
	w.t.Helper()
	testkit.Eventually(w.t, 30*time.Second, func(ctx context.Context) error {
		hook := &unstructured.Unstructured{}
		hook.SetGroupVersionKind(jobs)
		return w.client.Get(ctx, kube.ObjectKey{Namespace: w.namespace, Name: name}, hook)
	})
}
