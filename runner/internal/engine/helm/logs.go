package helm

import (
	"bufio"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// maxHookLog is how much of a hook container's log is passed on, in bytes.
const maxHookLog = 64 << 10

// GetPodList returns the Pods of a hook whose chart asks for its log.
func (c *client) GetPodList(namespace string, options metav1.ListOptions) (*corev1.PodList, error) {
	clients, err := kubernetes.NewForConfig(c.getter.config)
	if err != nil {
		return nil, fmt.Errorf("make a client for hook logs: %w", err)
	}
	pods, err := clients.CoreV1().Pods(namespace).List(c.ctx, options)
	if err != nil {
		return nil, fmt.Errorf("list the Pods of a hook in %s: %w", namespace, err)
	}
	return pods, nil
}

// OutputContainerLogsForPodList reports the logs of a hook's containers as notes.
func (c *client) OutputContainerLogsForPodList(pods *corev1.PodList, namespace string, _ func(string, string, string) io.Writer) error {
	clients, err := kubernetes.NewForConfig(c.getter.config)
	if err != nil {
		return fmt.Errorf("make a client for hook logs: %w", err)
	}
	limit := int64(maxHookLog)
	for _, pod := range pods.Items {
		for _, container := range pod.Spec.Containers {
			options := &corev1.PodLogOptions{Container: container.Name, LimitBytes: &limit}
			stream, err := clients.CoreV1().Pods(namespace).GetLogs(pod.Name, options).Stream(c.ctx)
			if err != nil {
				return fmt.Errorf("read the log of hook Pod %s/%s: %w", namespace, pod.Name, err)
			}
			c.tellLines(pod.Name, container.Name, stream)
		}
	}
	return nil
}

func (c *client) tellLines(pod, container string, stream io.ReadCloser) {
	defer stream.Close()
	lines := bufio.NewScanner(io.LimitReader(stream, maxHookLog))
	for lines.Scan() {
		c.tell.notef("%s/%s: %s", pod, container, lines.Text())
	}
}
