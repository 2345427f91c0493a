package helm

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

func TestReleaseWaitsForItsObjects(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "plain")
	text, err := os.ReadFile(dir + "/templates/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir+"/templates/deployment.yaml", strings.Replace(string(text), "      containers:", "      nodeSelector: {{ .Values.node | default dict | toJson }}\n      containers:", 1))
	e := w.engine(dir, func(c *Config) { c.Wait = true })
	job := w.job("one", map[string]any{"node": map[string]any{"there": "is-none"}})
	first := w.run(e, job, engine.Waiting)
	if first.Reason != engine.ReasonNotReady || first.Release == nil || first.Release.Action != engine.ActionInstall || first.RetryAfter == 0 {
		t.Errorf("reason %s, release %+v, again after %s", first.Reason, first.Release, first.RetryAfter)
	}
	if !strings.HasPrefix(first.Message, "2 of 3 objects are ready; Deployment/one: ") {
		t.Errorf("message %q", first.Message)
	}
	w.run(e, job, engine.Waiting)
	job.Inputs = nil
	testkit.Eventually(t, 30*time.Second, func(ctx context.Context) error {
		result, err := e.Run(ctx, verified(job))
		if err != nil || !result.Outcome.OK() {
			return &outcomeError{result}
		}
		return nil
	})
	if result := w.did(e, job, engine.ActionNone); result.APIRequests != 0 {
		t.Errorf("a pass over what is ready takes %d requests", result.APIRequests)
	}
	if len(w.revisions("one")) != 2 {
		t.Errorf("revisions are %v", w.revisions("one"))
	}
}

func TestWaitingSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "plain")
	writeFile(t, dir+"/templates/deployment.yaml", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  progressDeadlineSeconds: 2
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      nodeSelector: {there: is-no-such-node}
      containers: [{name: main, image: example.com/web:1}]
`)
	e := w.engine(dir, func(c *Config) { c.Wait = true })
	job := w.job("one", nil)
	w.run(e, job, engine.Waiting)
	seen := false
	testkit.Eventually(t, time.Minute, func(ctx context.Context) error {
		result, err := e.Run(ctx, job)
		if err != nil {
			return err
		}
		seen = seen || strings.Contains(result.Message, "Unschedulable")
		if result.Outcome != engine.Permanent || result.Reason != engine.ReasonObjectFailed {
			return &outcomeError{result}
		}
		return nil
	})
	if !seen {
		t.Error("nobody said that the Pods cannot be scheduled")
	}
	// It is no failure of the release.
	if got := w.revisions("one"); len(got) != 1 || got[0] != "deployed" {
		t.Errorf("revisions are %v", got)
	}
}

func TestTroubleOfPods(t *testing.T) {
	waits := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	for why, tt := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"a bad image": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waits("ImagePullBackOff", "no such image")}},
			"container main: ImagePullBackOff: no such image"},
		"a start takes a while": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waits("ContainerCreating", "")}}, ""},
		"no node": {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes"}}},
			"Unschedulable: 0/1 nodes"},
	} {
		if got := troubleOf(&corev1.Pod{Status: tt.status}); got != tt.want {
			t.Errorf("%s: %q, want %q", why, got, tt.want)
		}
	}
}

func TestDriftIsDetectedAndLeft(t *testing.T) {
	w := newWorld(t)
	detecting := func(c *Config) { c.Drift = DriftDetect }
	e := w.engine("plain", detecting)
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	if result := w.did(e, verified(job), engine.ActionNone); result.Drift == nil || len(result.Drift) != 0 {
		t.Errorf("drift of untouched objects is %#v", result.Drift)
	}
	w.delete(services, w.namespace, "one")
	w.patch(w.get(configMaps, w.namespace, "one-config"), func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, "edited", "data", "message")
		_ = unstructured.SetNestedField(o.Object, "stays", "data", "foreign")
	})
	for _, e := range []*Engine{e, w.engine("plain", detecting)} {
		result := w.did(e, verified(job), engine.ActionNone)
		if len(result.Writes) != 0 {
			t.Errorf("detecting wrote %+v", result.Writes)
		}
		told := strings.Join(result.Drift, "; ")
		if !strings.Contains(told, "ConfigMap/one-config: data.message") || !strings.Contains(told, "Service/one is missing") || len(result.Drift) != 2 {
			t.Errorf("drift is %q", told)
		}
		if again := w.did(e, job, engine.ActionNone); again.APIRequests != 0 || len(again.Drift) != 2 {
			t.Errorf("an idle pass takes %d requests and says %v", again.APIRequests, again.Drift)
		}
	}
	off := w.engine("plain", func(c *Config) { c.Drift = DriftOff })
	w.did(off, verified(job), engine.ActionNone)
	if result := w.did(off, verified(job), engine.ActionNone); result.APIRequests != 0 || result.Drift != nil {
		t.Errorf("looking at nothing takes %d requests and says %v", result.APIRequests, result.Drift)
	}
	w.did(w.engine("plain"), verified(job), engine.ActionRepair)
}

// Whose an object is, is written on it at a take-over whatever is done about drift, and nothing else is changed.
func TestTakeOverWhileDriftIsOnlyDetected(t *testing.T) {
	w := newWorld(t)
	w.stockInstall("plain", "one", nil)
	w.patch(w.get(configMaps, w.namespace, "one-config"), func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, "edited", "data", "message")
	})
	job := w.job("one", nil)
	result := w.did(w.engine("plain", func(c *Config) { c.Drift = DriftDetect }), job, engine.ActionNone)
	if len(result.Drift) != 1 || result.Drift[0] != "ConfigMap/one-config: data.message" {
		t.Errorf("drift is %v", result.Drift)
	}
	config := w.get(configMaps, w.namespace, "one-config")
	if !ownedBy(config, job.Owner) || w.message("one-config", "message") != "edited" {
		t.Errorf("owners %v, message %q", config.GetOwnerReferences(), w.message("one-config", "message"))
	}
}
