package helm

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func TestFailingUpgradeIsGivenUp(t *testing.T) {
	w := newWorld(t)
	with := func(c *Config) { c.Retries, c.RetryAfter = 2, RetryAfter }
	e := w.engine("plain", with)
	w.did(e, w.job("one", map[string]any{"message": "good"}), engine.ActionInstall)
	bad := w.job("one", map[string]any{"message": "bad", "fail": true})
	for try, wait := range []time.Duration{30 * time.Second, 90 * time.Second} {
		if result := w.run(e, bad, engine.Transient); result.RetryAfter != wait {
			t.Errorf("try %d is repeated after %s, want %s", try+1, result.RetryAfter, wait)
		}
		e = w.engine("plain", with) // a restart does not forget
	}
	result := w.run(e, bad, engine.Permanent)
	if result.Reason != engine.ReasonUpgradeFailed || !strings.Contains(result.Message, "99999") || !strings.Contains(result.Message, "given up after 3 tries") {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	tried := w.record("one", 2).UID
	for range 2 {
		if again := w.run(e, verified(bad), engine.Permanent); len(again.Writes) != 0 || again.Message != result.Message {
			t.Errorf("given up, and then: message %q, before %q, writes %+v", again.Message, result.Message, again.Writes)
		}
		e = w.engine("plain", with)
	}
	if w.record("one", 2).UID != tried {
		t.Error("it was tried again")
	}
	if diff := cmp.Diff([]string{"deployed", "failed"}, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}

	asked := bad
	asked.Trigger = engine.TriggerRequest
	if result := w.run(e, asked, engine.Transient); result.RetryAfter != 30*time.Second {
		t.Errorf("a request is a new beginning; repeated after %s", result.RetryAfter)
	}
	w.did(e, w.job("one", map[string]any{"message": "better"}), engine.ActionUpgrade)
	w.did(e, w.job("one", map[string]any{"message": "good"}), engine.ActionUpgrade)
	if result := w.run(e, bad, engine.Transient); result.RetryAfter != 30*time.Second {
		t.Errorf("a good revision is a new beginning; repeated after %s", result.RetryAfter)
	}
}

func TestRollbackHappensOnceAndOnlyWhereAsked(t *testing.T) {
	w := newWorld(t)
	with := func(c *Config) { c.Retries, c.Rollback = -1, true }
	e := w.engine("plain", with)
	good := w.job("one", map[string]any{"message": "good"})
	w.did(e, good, engine.ActionInstall)
	bad := w.job("one", map[string]any{"message": "bad", "fail": true, "extra": true})
	result := w.run(e, bad, engine.Permanent)
	if result.Reason != engine.ReasonUpgradeFailed || !strings.Contains(result.Message, "99999") || !strings.Contains(result.Message, "rolled back, as revision 3") {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	if result.Release == nil || result.Release.Version != 3 || len(result.Children) != 3 {
		t.Errorf("after the rollback stands %+v with %v", result.Release, result.Children)
	}
	want := []string{"superseded", "failed", "deployed"}
	if diff := cmp.Diff(want, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if got := w.message("one-config", "message"); got != "good" || w.exists(configMaps, w.namespace, "one-extra") {
		t.Errorf("the ConfigMap says %q", got)
	}
	// What was rolled back to is looked after, and nothing is tried again.
	w.patch(w.get(configMaps, w.namespace, "one-config"), func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, "edited", "data", "message")
	})
	for range 2 {
		if again := w.run(e, verified(bad), engine.Permanent); again.Message != result.Message {
			t.Errorf("message %q, before %q", again.Message, result.Message)
		}
		if got := w.message("one-config", "message"); got != "good" {
			t.Errorf("the ConfigMap says %q", got)
		}
		e = w.engine("plain", with)
	}
	if diff := cmp.Diff(want, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	w.did(e, good, engine.ActionNone)
	asked := bad
	asked.Trigger, asked.Inputs = engine.TriggerRequest, map[string]any{"message": "bad"}
	w.did(e, asked, engine.ActionUpgrade)
	if got := w.message("one-config", "message"); got != "bad" {
		t.Errorf("the ConfigMap says %q", got)
	}
	w.did(w.engine("plain", with), w.job("one", map[string]any{"message": "bad"}), engine.ActionNone)
}

// A rollback that was cut off goes on.
func TestInterruptedRollbackGoesOn(t *testing.T) {
	w := newWorld(t)
	with := func(c *Config) { c.Retries, c.Rollback = -1, true }
	e := w.engine("plain", with)
	w.did(e, w.job("one", map[string]any{"message": "good"}), engine.ActionInstall)
	bad := w.job("one", map[string]any{"message": "bad", "fail": true})
	w.run(e, bad, engine.Permanent)
	// As it was before the last two writes.
	w.relabel("one", 3, digestLabel, w.record("one", 2).Labels[digestLabel])
	w.setStatus("one", 3, "pending-rollback")
	w.setStatus("one", 1, "deployed")
	w.run(w.engine("plain", with), bad, engine.Permanent)
	if diff := cmp.Diff([]string{"superseded", "failed", "failed", "deployed"}, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestForceMakesObjectsAnewThatCannotBeChanged(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "plain")
	writeFile(t, dir+"/templates/job.yaml", jobOfMessage+`---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: {{ .Release.Name }}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: {{ .Values.size | default "1Gi" }}}}, storageClassName: {{ .Values.class | default "a" }}}
`)
	e := w.engine(dir, func(c *Config) { c.Force = true })
	w.did(e, w.job("one", map[string]any{"message": "a"}), engine.ActionInstall)
	service, job := w.get(services, w.namespace, "one").GetUID(), w.get(jobs, w.namespace, "one").GetUID()
	kind := w.job("one", map[string]any{"message": "b", "replicas": int64(2)})
	declined := kind
	declined.Annotations = map[string]string{prefix + "upgrade-force": "false"}
	w.run(e, declined, engine.Transient)
	w.did(e, kind, engine.ActionUpgrade)
	if w.get(services, w.namespace, "one").GetUID() != service {
		t.Error("the Service was made anew, although it can be changed")
	}
	if w.get(jobs, w.namespace, "one").GetUID() == job {
		t.Error("the Job was not made anew")
	}
	result := w.run(e, w.job("one", map[string]any{"message": "b", "replicas": int64(2), "class": "other"}), engine.Transient)
	if !strings.Contains(result.Message, "PersistentVolumeClaim") {
		t.Errorf("message %q", result.Message)
	}
	asked := w.job("two", map[string]any{"message": "a"})
	plain := w.engine(dir)
	w.did(plain, asked, engine.ActionInstall)
	asked.Inputs = map[string]any{"message": "b"}
	asked.Annotations = map[string]string{prefix + "upgrade-force": "true"}
	w.did(plain, asked, engine.ActionUpgrade)
}

// relabel sets a label on the record of a revision.
func (w *world) relabel(name string, version int, key, value string) {
	w.t.Helper()
	secret := w.record(name, version)
	secret.Labels[key] = value
	if err := w.client.Update(w.t.Context(), secret); err != nil {
		w.t.Fatal(err)
	}
}
