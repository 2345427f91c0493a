package helm

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

func hooks(of ...string) map[string]any {
	run := map[string]any{}
	for i := 0; i < len(of); i += 2 {
		run[of[i]] = of[i+1]
	}
	return map[string]any{"run": run}
}

func TestHooksRunAndAreOwned(t *testing.T) {
	w := newWorld(t)
	e := w.engine("hooks")
	job := w.job("one", hooks("pre-install", "ok", "post-upgrade", "ok"))
	events := listen(&job)
	w.did(e, job, engine.ActionInstall)
	hook := w.get(jobs, w.namespace, "one-pre-install")
	if !ownedBy(hook, job.Owner) {
		t.Errorf("the hook has no owner: %v", hook.GetOwnerReferences())
	}
	var told []string
	for _, event := range events() {
		told = append(told, string(event.Kind)+" "+event.Task)
	}
	want := []string{"task_started install", "task_started hook Job/one-pre-install", "ok hook Job/one-pre-install", "ok install"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if w.exists(jobs, w.namespace, "one-post-upgrade") {
		t.Error("an upgrade hook ran on install")
	}
	for range 10 {
		w.did(e, verified(job), engine.ActionNone)
	}
	if w.exists(jobs, w.namespace, "one-post-upgrade") {
		t.Error("an upgrade hook ran although nothing was upgraded")
	}
	// A hook that is there from last time is deleted, and awaited, before it runs again.
	for _, message := range []string{"a", "b"} {
		job.Inputs["message"] = message
		w.did(e, job, engine.ActionUpgrade)
	}
}

func TestHookOnlyChangeIsAnUpgrade(t *testing.T) {
	w := newWorld(t)
	e := w.engine("hooks")
	w.did(e, w.job("one", nil), engine.ActionInstall)
	w.did(e, w.job("one", hooks("post-upgrade", "ok")), engine.ActionUpgrade)
	if !w.exists(jobs, w.namespace, "one-post-upgrade") {
		t.Error("the new hook did not run")
	}
}

func TestFailingHookIsNamedWithItsCause(t *testing.T) {
	w := newWorld(t)
	e := w.engine("hooks")
	for _, hook := range []string{"pre-install", "post-install"} {
		result := w.run(e, w.job(hook, hooks(hook, "fail")), engine.Transient)
		if result.Reason != engine.ReasonInstallFailed || !strings.Contains(result.Message, "Job/"+hook+"-"+hook) ||
			!strings.Contains(result.Message, "DeadlineExceeded") {
			t.Errorf("%s: reason %s, message %q", hook, result.Reason, result.Message)
		}
		t.Log(result.Message)
	}
	w.did(e, w.job("pre-install", nil), engine.ActionInstall)
	result := w.run(e, w.job("pre-install", hooks("pre-upgrade", "fail")), engine.Transient)
	if result.Reason != engine.ReasonUpgradeFailed || !strings.Contains(result.Message, "Job/pre-install-pre-upgrade") {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
}

func TestHookThatNeverEndsTimesOut(t *testing.T) {
	w := newWorld(t)
	e := w.engine("hooks", func(c *Config) { c.HookTimeout = time.Second })
	result := w.run(e, w.job("one", hooks("post-install", "hang")), engine.Transient)
	if result.Reason != engine.ReasonInstallFailed || !strings.Contains(result.Message, "Job/one-post-install has not ended within 1s") {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	job := w.job("two", hooks("post-install", "hang"))
	job.Timeout = time.Second
	result = w.run(w.engine("hooks"), job, engine.TimedOut)
	if result.Reason != engine.ReasonDeadlineExceeded || !strings.Contains(result.Message, "Job/two-post-install") {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	for _, name := range []string{"one", "two"} {
		if diff := cmp.Diff([]string{"failed"}, w.revisions(name)); diff != "" {
			t.Errorf("history of %s (-want +got):\n%s", name, diff)
		}
		w.did(e, w.job(name, nil), engine.ActionInstall)
	}
}

func TestCancelledRunEndsAtOnceAndLeavesNothingPending(t *testing.T) {
	w := newWorld(t)
	e := w.engine("hooks")
	job := w.job("one", hooks("post-install", "hang"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hung := make(chan struct{})
	job.Progress = func(e engine.Event) {
		if e.Task == "hook Job/one-post-install" && e.Kind == engine.EventTaskStarted {
			close(hung)
		}
	}
	results := make(chan engine.Result, 1)
	go func() {
		result, _ := e.Run(ctx, job)
		results <- result
	}()
	<-hung
	cancel()
	select {
	case result := <-results:
		if result.Outcome != engine.Cancelled || result.Reason != engine.ReasonCancelled {
			t.Errorf("outcome %s, reason %s, message %q", result.Outcome, result.Reason, result.Message)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the run goes on")
	}
	if diff := cmp.Diff([]string{"failed"}, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestUninstallHooks(t *testing.T) {
	w := newWorld(t)
	e := w.engine("hooks")
	job := w.job("one", hooks("pre-delete", "fail"))
	w.did(e, job, engine.ActionInstall)
	result := w.run(e, finalize(job), engine.Transient)
	if result.Reason != engine.ReasonUninstallFailed || !strings.Contains(result.Message, "Job/one-pre-delete") {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	if !w.exists(configMaps, w.namespace, "one-main") {
		t.Error("the release was uninstalled although its hook failed")
	}
	job.Annotations = map[string]string{prefix + "uninstall-disable-hooks": "true"}
	w.run(e, finalize(job), engine.Changed)
}

func TestUninstallWait(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	job := w.job("one", nil)
	job.Annotations = map[string]string{prefix + "uninstall-wait": "true"}
	w.did(e, job, engine.ActionInstall)
	w.patch(w.get(configMaps, w.namespace, "one-config"), func(o *unstructured.Unstructured) {
		o.SetFinalizers([]string{"example.com/held"})
	})
	for range 3 {
		result := w.run(e, finalize(job), engine.Waiting)
		if result.Message != waitMessage || result.RetryAfter == 0 || result.Release == nil {
			t.Errorf("message %q, retry after %s, release %+v", result.Message, result.RetryAfter, result.Release)
		}
	}
	w.patch(w.get(configMaps, w.namespace, "one-config"), func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
	testkit.Eventually(t, 10*time.Second, func(ctx context.Context) error {
		result, err := w.engine("plain").Run(ctx, finalize(job)) // also after a restart
		if err != nil || result.Outcome != engine.Changed {
			return &outcomeError{result}
		}
		return nil
	})
	if w.revisions("one") != nil {
		t.Errorf("the history is left: %v", w.revisions("one"))
	}
}

type outcomeError struct{ result engine.Result }

func (e *outcomeError) Error() string { return string(e.result.Outcome) + ": " + e.result.Message }

func TestUninstallKeepsAndRemoves(t *testing.T) {
	w := newWorld(t)
	other := w.otherNamespace()
	keep, wide := w.engine("keep"), w.engine("wide")
	w.did(keep, w.job("keep", nil), engine.ActionInstall)
	kept := w.get(configMaps, w.namespace, "keep-kept")
	if len(kept.GetOwnerReferences()) != 0 || kept.GetAnnotations()[primaryAnnotation] != w.namespace+"/keep" ||
		kept.GetAnnotations()[primaryTypeAnnotation] != "App."+appKind.Group {
		t.Errorf("what is to be kept has owners %v, annotations %v", kept.GetOwnerReferences(), kept.GetAnnotations())
	}
	w.run(keep, finalize(w.job("keep", nil)), engine.Changed)
	if !w.exists(configMaps, w.namespace, "keep-kept") || w.exists(configMaps, w.namespace, "keep-gone") {
		t.Error("the policy was not heeded")
	}

	job := w.job("wide", map[string]any{"otherNamespace": other})
	w.did(wide, job, engine.ActionInstall)
	name := w.namespace + "-wide"
	for _, obj := range []*unstructured.Unstructured{w.get(clusterRoles, "", name), w.get(configMaps, other, name)} {
		if len(obj.GetOwnerReferences()) != 0 || obj.GetAnnotations()[primaryAnnotation] != w.namespace+"/wide" {
			t.Errorf("%s has owners %v, annotations %v", obj.GetKind(), obj.GetOwnerReferences(), obj.GetAnnotations())
		}
	}
	w.run(wide, finalize(job), engine.Changed)
	if w.exists(clusterRoles, "", name) || w.exists(configMaps, other, name) || w.exists(configMaps, w.namespace, "wide") {
		t.Error("something is left")
	}
}

// A deletion in the foreground takes the release record before the finalizer has run.
func TestUninstallWithoutRecordRemovesWhatTheCollectorCannot(t *testing.T) {
	w := newWorld(t)
	other := w.otherNamespace()
	e := w.engine("wide")
	job := w.job("one", map[string]any{"otherNamespace": other})
	w.did(e, job, engine.ActionInstall)
	w.delete(secrets, w.namespace, secretName("one", 1))
	w.run(e, finalize(job), engine.Succeeded)
	name := w.namespace + "-one"
	if w.exists(clusterRoles, "", name) || w.exists(configMaps, other, name) {
		t.Error("something is left")
	}
}
