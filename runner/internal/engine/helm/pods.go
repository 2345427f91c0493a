package helm

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// workloads are kinds whose status does not say what is wrong with their Pods.
var workloads = []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"}

// maxPods bounds how many Pods of a workload are looked at.
const maxPods = 50

// podTrouble says what keeps a Pod of a workload from becoming ready, as its kubelet or the scheduler says it. It is empty
// when nothing is known; Pods need not be readable.
func (r *run) podTrouble(live *unstructured.Unstructured) string {
	if !slices.Contains(workloads, live.GetKind()) {
		return ""
	}
	selector, found, err := unstructured.NestedMap(live.Object, "spec", "selector")
	if err != nil || !found {
		return ""
	}
	var labels metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &labels); err != nil {
		return ""
	}
	clients, err := r.getter.KubernetesClientSet()
	if err != nil {
		return ""
	}
	pods, err := clients.CoreV1().Pods(live.GetNamespace()).List(r.ctx, metav1.ListOptions{
		LabelSelector: metav1.FormatLabelSelector(&labels), Limit: maxPods,
	})
	if err != nil {
		return ""
	}
	for i := range pods.Items {
		if why := troubleOf(&pods.Items[i]); why != "" {
			return "Pod/" + pods.Items[i].Name + ": " + why
		}
	}
	return ""
}

// passing are reasons of waiting containers that pass by themselves.
var passing = []string{"ContainerCreating", "PodInitializing"}

func troubleOf(pod *corev1.Pod) string {
	for _, state := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waits := state.State.Waiting; waits != nil && waits.Reason != "" && !slices.Contains(passing, waits.Reason) {
			return fmt.Sprintf("container %s: %s", state.Name, because(waits.Reason, waits.Message))
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return because(c.Reason, c.Message)
		}
	}
	return ""
}
