package runner_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// tellingChart does all that tells what a Secret holds: in its notes, in what it fails with, and in objects that the API
// server quotes when it refuses them.
var tellingChart = map[string]string{
	"chart/Chart.yaml":          "apiVersion: v2\nname: thing\nversion: 0.1.0\n",
	"chart/values.schema.json":  `{"properties": {"password": {"type": "string", "pattern": "^[^#]*$"}}}`,
	"chart/templates/NOTES.txt": "Log in with {{ .Values.password }} or {{ .Values.password | b64enc }}.\n",
	"chart/templates/all.yaml": `
apiVersion: v1
kind: Secret
metadata: {name: "{{ .Release.Name }}"}
stringData: {password: "{{ .Values.password }}", made: "made-up-&-never-told"}
---
{{- if eq .Values.mode "fail" }}
{{ fail (printf "cannot use %s" .Values.password) }}
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: "{{ .Release.Name }}"
  {{- if eq .Values.mode "given" }}
  labels: {token: "{{ .Values.password }}"}
  {{- else if eq .Values.mode "made" }}
  labels: {token: "made-up-&-never-told"}
  {{- end }}
data: {message: "{{ .Values.mode }}"}
`,
}

// The old tool wrote all that a chart renders to status, Secrets and all (UP K1), and the notes, too.
func TestSecretsOfChartsAreToldNowhere(t *testing.T) {
	t.Parallel()
	const given, made = "hunter2-&-never-told", "made-up-&-never-told"
	gvk := kindFor(t)
	files := map[string]string{"watches.yaml": "- group: " + gvk.Group + "\n  version: v1\n  kind: Thing\n  chart: DIR/chart\n  valuesFrom:\n    - secretKeyRef: {name: given, key: password}\n      targetPath: password\n"}
	maps.Copy(files, tellingChart)
	o := setup(t, testkit.Cluster(t), files)
	o.secret("given", map[string]any{"password": given})
	var seen strings.Builder
	look := func(obj *unstructured.Unstructured) error {
		fmt.Fprintln(&seen, obj.Object["status"], obj.GetAnnotations())
		return nil
	}
	o.start(func(options *runner.Options) { options.Ansible.LogEvents = "everything" })
	thing := o.create(gvk, "thing", map[string]any{"mode": "good"})
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		notes, _ := testkit.Condition(obj, "Deployed")
		if message, _ := notes["message"].(string); !strings.Contains(message, "Log in with") {
			return fmt.Errorf("the notes are %v", notes)
		}
		return errors.Join(ready(obj), look(obj))
	})
	for mode, want := range map[string]string{"fail": "cannot use", "given": "metadata.labels", "made": "metadata.labels"} {
		o.edit(thing, set(mode, "spec", "mode"))
		o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
			why, err := testkit.Condition(obj, "Ready")
			if err != nil || why["status"] != "False" || why["observedGeneration"] != obj.GetGeneration() || !strings.Contains(fmt.Sprint(why["message"]), want) {
				return fmt.Errorf("%s: %v %w", mode, why, err)
			}
			return look(obj)
		})
	}
	o.edit(thing, set("wrong#"+given, "spec", "password"))
	o.failsWith(thing, "InvalidValues", "/password")
	told := map[string]string{"the log": o.log.text(), "status": seen.String(), "an event": eventsOf(t, o)}
	for where, text := range told {
		for _, form := range formsOfSecret(t, given, made) {
			if strings.Contains(text, form) {
				t.Errorf("%s has %q:\n%s", where, form, text)
			}
		}
	}
}

// What helm-operator has left in status goes when a resource is taken over.
func TestOldManifestGoesFromStatus(t *testing.T) {
	t.Parallel()
	o, gvk := chartOperator(t, "")
	thing := o.create(gvk, "thing", map[string]any{})
	thing.Object["status"] = map[string]any{
		"conditions":      []any{map[string]any{"type": "Deployed", "status": "True", "reason": "InstallSuccessful", "lastTransitionTime": "2024-01-01T00:00:00Z"}},
		"deployedRelease": map[string]any{"name": "thing", "manifest": "kind: Secret\ndata: {password: aHVudGVyMg==}\n"},
	}
	if err := o.client.Status().Update(t.Context(), thing); err != nil {
		t.Fatal(err)
	}
	o.start()
	after := o.eventually(gvk, "thing", ready)
	release, _, _ := unstructured.NestedMap(after.Object, "status", "deployedRelease")
	if _, there := release["manifest"]; there || release["name"] != "thing" || release["digest"] == "" {
		t.Errorf("status.deployedRelease is %v", release)
	}
}
