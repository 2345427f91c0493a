package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/kube"
)

type object = map[string]any

func create(t *testing.T, c cluster, path string, o object) {
	t.Helper()
	if err := c.client(t).Do(t.Context(), http.MethodPost, path, o, nil); err != nil {
		t.Fatal(err)
	}
}

func podTemplate(restart string) object {
	return object{
		"metadata": object{"labels": object{"app": "web"}},
		"spec":     object{"restartPolicy": restart, "containers": []object{{"name": "c", "image": "example.com/none"}}},
	}
}

func deployment(name string) object {
	return object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": name},
		"spec": object{"replicas": 2, "selector": object{"matchLabels": object{"app": "web"}}, "template": podTemplate("Always")},
	}
}

func job(name string) object {
	return object{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": object{"name": name},
		"spec": object{"template": podTemplate("Never")},
	}
}

func deploymentAvailable(t *testing.T, c cluster) {
	create(t, c, "/apis/apps/v1/namespaces/default/deployments", deployment("web"))
	eventually(t, condition(c, "/apis/apps/v1/namespaces/default/deployments/web", "Available"))
	var pods struct {
		Items []struct {
			Status struct{ Phase, PodIP string }
		}
	}
	if err := c.client(t).Get(t.Context(), "/api/v1/namespaces/default/pods?labelSelector=app%3Dweb", &pods); err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if pod.Status.Phase != "Running" || pod.Status.PodIP == "" {
			t.Errorf("a pod is %+v", pod.Status)
		}
	}
	if len(pods.Items) != 2 {
		t.Errorf("%d pods, want 2", len(pods.Items))
	}
}

func deploymentExists(t *testing.T, c cluster) {
	t.Helper()
	if err := c.client(t).Get(t.Context(), "/apis/apps/v1/namespaces/default/deployments/web", nil); err != nil {
		t.Error(err)
	}
}

func jobCompletes(t *testing.T, c cluster) {
	create(t, c, "/apis/batch/v1/namespaces/default/jobs", job("once"))
	eventually(t, condition(c, "/apis/batch/v1/namespaces/default/jobs/once", "Complete"))
}

// told is a Pod template with the annotation that makes the fake node misbehave.
func told(restart, what string) object {
	template := podTemplate(restart)
	template["metadata"].(object)["annotations"] = object{"localcluster.chartbook.dev/pod": what}
	return template
}

func jobFails(t *testing.T, c cluster) {
	bad := job("bad")
	bad["spec"] = object{"backoffLimit": 0, "template": told("Never", "fail")}
	create(t, c, "/apis/batch/v1/namespaces/default/jobs", bad)
	eventually(t, condition(c, "/apis/batch/v1/namespaces/default/jobs/bad", "Failed"))
}

func deploymentStuck(t *testing.T, c cluster) {
	stuck := deployment("stuck")
	labels := object{"app": "stuck"}
	template := told("Always", "never-ready")
	template["metadata"].(object)["labels"] = labels
	stuck["spec"] = object{"replicas": 1, "selector": object{"matchLabels": labels}, "template": template}
	create(t, c, "/apis/apps/v1/namespaces/default/deployments", stuck)
	var pods struct {
		Items []struct {
			Status struct {
				Phase             string
				ContainerStatuses []struct {
					State struct{ Waiting struct{ Reason string } }
				}
			}
		}
	}
	eventually(t, func(ctx context.Context) error {
		if err := c.client(t).Get(ctx, "/api/v1/namespaces/default/pods?labelSelector=app%3Dstuck", &pods); err != nil {
			return err
		}
		if len(pods.Items) == 0 || len(pods.Items[0].Status.ContainerStatuses) == 0 {
			return errors.New("the node has not seen the pod")
		}
		return nil
	})
	status := pods.Items[0].Status
	if reason := status.ContainerStatuses[0].State.Waiting.Reason; status.Phase != "Pending" || reason != "ImagePullBackOff" {
		t.Errorf("the pod is %s with the reason %q", status.Phase, reason)
	}
}

func claimBound(t *testing.T, c cluster) {
	claims := "/api/v1/namespaces/default/persistentvolumeclaims"
	create(t, c, claims, object{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": object{"name": "data"},
		"spec": object{"accessModes": []string{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": "1Gi"}}},
	})
	var claim struct {
		Spec   struct{ VolumeName string }
		Status struct{ Phase string }
	}
	client := c.client(t)
	eventually(t, func(ctx context.Context) error {
		if err := client.Get(ctx, claims+"/data", &claim); err != nil || claim.Status.Phase == "Bound" {
			return err
		}
		return fmt.Errorf("the claim is %s", claim.Status.Phase)
	})
	if err := client.Do(t.Context(), http.MethodDelete, claims+"/data", nil, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, gone(client, "/api/v1/persistentvolumes/"+claim.Spec.VolumeName))
}

// namespaceGoes has Pods in it, one of them with a finalizer that it must wait for.
func namespaceGoes(t *testing.T, c cluster) {
	client := c.client(t)
	create(t, c, "/api/v1/namespaces", object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "temporary"}})
	// The service account comes a moment after its namespace, and no Pod can be created before.
	eventually(t, func(ctx context.Context) error {
		return client.Get(ctx, "/api/v1/namespaces/temporary/serviceaccounts/default", nil)
	})
	create(t, c, "/apis/apps/v1/namespaces/temporary/deployments", deployment("web"))
	pods := "/api/v1/namespaces/temporary/pods"
	pod := podTemplate("Always")
	pod["metadata"] = object{"name": "held", "finalizers": []string{"example.com/hold"}}
	create(t, c, pods, pod)
	eventually(t, condition(c, "/apis/apps/v1/namespaces/temporary/deployments/web", "Available"))
	eventually(t, condition(c, pods+"/held", "Ready"))
	if err := client.Do(t.Context(), http.MethodDelete, "/api/v1/namespaces/temporary", nil, nil); err != nil {
		t.Fatal(err)
	}
	var held struct {
		Metadata struct{ DeletionTimestamp string }
	}
	eventually(t, func(ctx context.Context) error {
		if err := client.Get(ctx, pods+"/held", &held); err != nil || held.Metadata.DeletionTimestamp != "" {
			return err // gone already would be an error: the finalizer was ignored
		}
		return errors.New("the pod is not being deleted")
	})
	release := []object{{"op": "remove", "path": "/metadata/finalizers"}}
	if err := client.Patch(t.Context(), pods+"/held", release); err != nil {
		t.Fatal(err)
	}
	eventually(t, gone(client, "/api/v1/namespaces/temporary"))
}

func gone(client *kube.Client, path string) func(context.Context) error {
	return func(ctx context.Context) error {
		err := client.Get(ctx, path, nil)
		if errors.Is(err, kube.ErrNotFound) {
			return nil
		}
		return errors.Join(errors.New(path+" is still there"), err)
	}
}
