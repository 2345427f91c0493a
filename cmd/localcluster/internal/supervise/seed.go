package supervise

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	"sigs.k8s.io/kwok/kustomize/stage/node/heartbeat"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"

	_ "embed" // the stages that kwok does not bring along

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/kube"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
)

//go:embed stages.yaml
var ownStages string

// stages is how fake objects live: what kwok ships, and ours for what it lacks.
func stages() string {
	return strings.Join([]string{
		fast.DefaultNodeInit, heartbeat.DefaultNodeHeartbeat,
		podfast.DefaultPodReady, podfast.DefaultPodComplete, podfast.DefaultPodDelete,
		ownStages,
	}, "\n---\n")
}

// storageClass is the default one; the stages in stages.yaml make its volumes.
const storageClass = "fake"

type object = map[string]any

// seed creates the objects that a fresh cluster needs to run anything.
func seed(ctx context.Context, client *kube.Client, nodes int) error {
	for i := range nodes {
		if err := client.Create(ctx, "/api/v1/nodes", node(fmt.Sprintf("node-%d", i+1), i)); err != nil {
			return fmt.Errorf("cannot create a node: %w", err)
		}
	}
	if err := client.Create(ctx, "/apis/storage.k8s.io/v1/storageclasses", fakeStorage()); err != nil {
		return fmt.Errorf("cannot create the storage class: %w", err)
	}
	return nil
}

func node(name string, index int) object {
	resources := object{"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "1000"}
	return object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": object{
			"name":        name,
			"annotations": object{"kwok.x-k8s.io/node": "fake"},
			"labels": object{
				"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
			},
		},
		"spec": object{"podCIDR": fmt.Sprintf("10.244.%d.0/24", index), "podCIDRs": []string{fmt.Sprintf("10.244.%d.0/24", index)}},
		"status": object{
			"capacity": resources, "allocatable": resources,
			"addresses": []object{{"type": "InternalIP", "address": plan.Host}, {"type": "Hostname", "address": name}},
		},
	}
}

func fakeStorage() object {
	return object{
		"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
		"metadata": object{
			"name":        storageClass,
			"annotations": object{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		"provisioner": "localcluster.chartbook.dev/fake", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate",
	}
}
