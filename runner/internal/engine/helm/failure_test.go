package helm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func TestFailedInstallIsRetriedAndBounded(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	job := w.job("one", map[string]any{"fail": true})
	for range 4 {
		result := w.run(e, job, engine.Transient)
		if result.Reason != engine.ReasonInstallFailed || !strings.Contains(result.Message, "99999") {
			t.Fatalf("reason %s, message %q", result.Reason, result.Message)
		}
		if len(result.Failures) != 1 || result.Failures[0].Name != "Service/one-refused" {
			t.Errorf("failures are %+v", result.Failures)
		}
	}
	if diff := cmp.Diff([]string{"failed"}, w.revisions("one")); diff != "" {
		t.Errorf("history after four attempts (-want +got):\n%s", diff)
	}
	deployment := w.get(deployments, w.namespace, "one").GetUID()
	job.Inputs = map[string]any{"message": "good"}
	result := w.did(e, job, engine.ActionInstall)
	if got := w.get(deployments, w.namespace, "one").GetUID(); got != deployment {
		t.Errorf("an object of the failed attempt was made anew instead of being adopted")
	}
	if diff := cmp.Diff([]string{"failed", "deployed"}, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if data := w.get(configMaps, w.namespace, "one-config").Object["data"].(map[string]any); data["message"] != "good" {
		t.Errorf("the adopted ConfigMap holds %v, release %+v", data, result.Release)
	}
	w.did(e, job, engine.ActionNone)
}

func TestFailedInstallLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "wide")
	writeFile(t, dir+"/templates/refused.yaml", `{{ if .Values.fail }}{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: [{port: 99999}]}}{{ end }}`)
	e := w.engine(dir)
	other := w.otherNamespace()
	w.run(e, w.job("one", map[string]any{"otherNamespace": other, "fail": true}), engine.Transient)
	name := w.namespace + "-one"
	if !w.exists(clusterRoles, "", name) {
		t.Fatal("the failed install did not even make the ClusterRole")
	}
	w.run(e, finalize(w.job("one", nil)), engine.Changed)
	if w.exists(clusterRoles, "", name) || w.exists(configMaps, other, name) || w.revisions("one") != nil {
		t.Error("the failed install has left something")
	}
}

func TestFailedUpgradeSaysWhyAndHeals(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	w.did(e, w.job("one", map[string]any{"message": "good"}), engine.ActionInstall)
	bad := w.job("one", map[string]any{"message": "bad", "fail": true, "extra": true})
	for range DefaultRetries {
		result := w.run(e, bad, engine.Transient)
		if result.Reason != engine.ReasonUpgradeFailed || !strings.Contains(result.Message, "99999") {
			t.Fatalf("reason %s, message %q", result.Reason, result.Message)
		}
		if result.Release == nil || result.Release.Version != 1 {
			t.Errorf("the good revision is not named: %+v", result.Release)
		}
	}
	if diff := cmp.Diff([]string{"deployed", "failed"}, w.revisions("one")); diff != "" {
		t.Errorf("history after all attempts (-want +got):\n%s", diff)
	}
	if !w.exists(configMaps, w.namespace, "one-extra") {
		t.Error("the failed upgrade was rolled back")
	}
	w.did(e, w.job("one", map[string]any{"message": "good"}), engine.ActionUpgrade)
	if w.exists(configMaps, w.namespace, "one-extra") {
		t.Error("an object that only the failed upgrade made is left")
	}
	if data := w.get(configMaps, w.namespace, "one-config").Object["data"].(map[string]any); data["message"] != "good" {
		t.Errorf("after going back the message is %v", data["message"])
	}
	if diff := cmp.Diff([]string{"superseded", "failed", "deployed"}, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain", func(c *Config) { c.MaxHistory = 3 })
	for i := range 6 {
		w.run(e, w.job("one", map[string]any{"message": strings.Repeat("x", i+1)}), engine.Changed)
	}
	if diff := cmp.Diff([]string{"superseded", "superseded", "deployed"}, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestInvalidValues(t *testing.T) {
	w := newWorld(t)
	e := w.engine("schema")
	result := w.run(e, w.job("one", map[string]any{"replicas": "many", "password": "S3CR3T-VALUE"}), engine.Permanent)
	if result.Reason != engine.ReasonInvalidValues || !strings.Contains(result.Message, "/replicas") {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	if strings.Contains(result.Message, "S3CR3T") {
		t.Errorf("the message quotes a value: %q", result.Message)
	}
	t.Log(result.Message)
	if w.revisions("one") != nil {
		t.Error("a release was made")
	}
	job := w.job("one", map[string]any{"replicas": int64(2)})
	w.did(e, job, engine.ActionInstall)
	result = w.run(e, w.job("one", map[string]any{"replicas": int64(0)}), engine.Permanent)
	if result.Reason != engine.ReasonInvalidValues || result.Release == nil || result.Release.Version != 1 {
		t.Errorf("on upgrade: reason %s, release %+v", result.Reason, result.Release)
	}
	w.did(e, job, engine.ActionNone)
}

func TestInvalidChart(t *testing.T) {
	w := newWorld(t)
	edit := func(file, text string) string {
		dir := copyChart(t, "plain")
		writeFile(t, dir+"/"+file, text)
		return dir
	}
	tests := []struct {
		why, chart, message string
	}{
		{"a template that does not parse names file and line", "broken", "broken/templates/configmap.yaml:4"},
		{"a template that does not run names file and line", edit("templates/x.yaml", "a: 1\nb: {{ index .Values.none 1 }}"), "plain/templates/x.yaml:2"},
		{"the chart's own words, of fail and required", edit("templates/x.yaml", `{{ required "message2 is needed" .Values.message2 }}`), "message2 is needed"},
		{"a template that gives no YAML names the file", edit("templates/x.yaml", "a: b: c"), "plain/templates/x.yaml"},
		{"a manifest without a kind is no manifest", edit("templates/x.yaml", "apiVersion: v1\nkind: [1]\n"), "plain/templates/x.yaml"},
		{"Chart.yaml does not parse", edit("Chart.yaml", "name: [plain"), "Chart.yaml"},
		{"values.yaml does not parse", edit("values.yaml", "a: [b"), "values.yaml"},
		{"a chart for another Kubernetes", edit("Chart.yaml", "apiVersion: v2\nname: plain\nversion: 0.1.0\nkubeVersion: '>=99.0.0'"), "kubeVersion"},
		{"a library chart", "library", "library chart"},
		{"a dependency that was never fetched", edit("Chart.yaml", "apiVersion: v2\nname: plain\nversion: 0.1.0\ndependencies: [{name: db, version: 1.0.0}]"), "db"},
		{"no chart at all", t.TempDir() + "/none", "none"},
		{"a directory that is no chart", t.TempDir(), "Chart.yaml"},
	}
	for i, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			w, name := w.in(t), fmt.Sprint("r", i)
			e := w.engine(test.chart)
			result := w.run(e, w.job(name, nil), engine.Permanent)
			if result.Reason != engine.ReasonInvalidChart || !strings.Contains(result.Message, test.message) {
				t.Errorf("reason %s, message %q, want %q in it", result.Reason, result.Message, test.message)
			}
			t.Log(result.Message)
			if w.revisions(name) != nil {
				t.Error("a release was made")
			}
			w.run(e, finalize(w.job(name, nil)), engine.Succeeded)
		})
	}
}

// The chart may be broken, and the resource's values too, when it is time to clean up.
func TestUninstallNeedsNoChart(t *testing.T) {
	w := newWorld(t)
	job := w.job("one", nil)
	w.did(w.engine("plain"), job, engine.ActionInstall)
	e := w.engine(t.TempDir() + "/none")
	if err := e.Ready(t.Context()); err == nil {
		t.Error("Ready says nothing about a missing chart")
	}
	w.run(e, finalize(job), engine.Changed)
	if w.exists(configMaps, w.namespace, "one-config") {
		t.Error("the release was not uninstalled")
	}
}

func TestNames(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	long := w.job(strings.Repeat("x", 54), nil)
	result := w.run(e, long, engine.Permanent)
	if result.Reason != engine.ReasonReleaseName || !strings.Contains(result.Message, "53") || result.APIRequests != 0 {
		t.Errorf("%d requests, reason %s, message %q", result.APIRequests, result.Reason, result.Message)
	}
	w.run(e, finalize(long), engine.Succeeded)
	longest := w.job(strings.Repeat("x", 53), nil)
	w.run(e, longest, engine.Changed)

	clusterScoped := w.job("one", nil)
	clusterScoped.Owner.Namespace = ""
	result = w.run(e, clusterScoped, engine.Permanent)
	if result.Reason != engine.ReasonReleaseName || !strings.Contains(result.Message, "cluster-scoped") {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	w.run(e, finalize(clusterScoped), engine.Succeeded)
}

// jobOfMessage is a template of a Job that cannot be changed when the message does.
const jobOfMessage = `
apiVersion: batch/v1
kind: Job
metadata: {name: {{ .Release.Name }}}
spec:
  template:
    metadata: {labels: {message: {{ .Values.message }}}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: example.com/job:1}]
`

// A Job's template cannot be changed: the upgrade says what to do, and history stays bounded while nobody does.
func TestImmutableFieldInAnUpgrade(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "keep")
	writeFile(t, dir+"/templates/job.yaml", jobOfMessage)
	e := w.engine(dir)
	w.did(e, w.job("one", map[string]any{"message": "a"}), engine.ActionInstall)
	for range 3 {
		result := w.run(e, w.job("one", map[string]any{"message": "b"}), engine.Transient)
		if result.Reason != engine.ReasonUpgradeFailed || !strings.Contains(result.Message, "delete the object") {
			t.Errorf("reason %s, message %q", result.Reason, result.Message)
		}
	}
	if diff := cmp.Diff([]string{"deployed", "failed"}, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	w.delete(jobs, w.namespace, "one")
	w.did(e, w.job("one", map[string]any{"message": "b"}), engine.ActionUpgrade)
}
