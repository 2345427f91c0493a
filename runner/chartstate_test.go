package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

var (
	deploymentKind  = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	clusterRoleKind = schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}
)

// deployed is a chart with a Deployment that can be given no node.
var deployed = map[string]string{
	"chart/Chart.yaml": "apiVersion: v2\nname: thing\nversion: 0.1.0\n",
	"chart/templates/all.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: '{{ .Release.Name }}'}
spec:
  replicas: 1
  selector: {matchLabels: {app: '{{ .Release.Name }}'}}
  template:
    metadata: {labels: {app: '{{ .Release.Name }}'}}
    spec:
      nodeSelector: {{ .Values.node | default dict | toJson }}
      containers: [{name: main, image: example.com/web:1}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: '{{ .Release.Name }}'}
data: {message: '{{ .Values.message }}'}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: '{{ .Release.Namespace }}-{{ .Release.Name }}'}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`,
}

func TestWaitMakesReadyMeanReady(t *testing.T) {
	t.Parallel()
	o, gvk := withChart(t, deployed, "  reconcilePeriod: 0s\n  wait: true\n")
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"node": map[string]any{"there": "is-none"}})
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		if err := condition(obj, "Ready", "False", "NotReady"); err != nil {
			return err
		}
		c, err := testkit.Condition(obj, "Ready")
		if err == nil && !strings.Contains(fmt.Sprint(c["message"]), "2 of 3 objects are ready; Deployment/thing: ") {
			return fmt.Errorf("message is %q", c["message"])
		}
		return err
	})
	if c, err := testkit.Condition(o.eventually(gvk, "thing", exists), "Deployed"); err != nil || c["status"] != "True" {
		t.Errorf("the release is deployed all the same, but Deployed is %v: %v", c, err)
	}
	o.edit(thing, set(map[string]any{}, "spec", "node"))
	o.eventually(gvk, "thing", ready)
	// It ceases to be when its objects do.
	deployment := o.eventually(deploymentKind, "thing", exists)
	o.edit(thing, set(map[string]any{"there": "is-none"}, "spec", "node"))
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error { return condition(obj, "Ready", "False", "NotReady") })
	if now := o.eventually(deploymentKind, "thing", exists); now.GetUID() != deployment.GetUID() {
		t.Error("the Deployment was made anew")
	}
}

// untilNoticed repeats an edit of a child until a run answers it: the watch may not be there yet for the first.
func (o *operator) untilNoticed(name string, edit func(n int)) {
	o.t.Helper()
	before, n := o.runs(name, "dependent"), 0
	testkit.Eventually(o.t, soon, func(context.Context) error {
		if o.runs(name, "dependent") > before {
			return nil
		}
		edit(n)
		n++
		return errors.New("no run because of the child")
	})
}

func exists(*unstructured.Unstructured) error { return nil }

func TestDriftIsToldAndLeft(t *testing.T) {
	t.Parallel()
	o, gvk := withChart(t, deployed, "  reconcilePeriod: 0s\n  drift: detect\n")
	o.start()
	o.create(gvk, "thing", map[string]any{"message": "one"})
	o.eventually(gvk, "thing", ready)
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error { return condition(obj, "Drifted", "False", "NoDrift") })
	config := o.eventually(configMaps, "thing", message("one"))
	o.untilNoticed("thing", func(n int) { o.edit(config, set(fmt.Sprint("by hand ", n), "data", "message")) })
	edited := o.eventually(configMaps, "thing", exists)
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		if err := condition(obj, "Drifted", "True", "DriftDetected"); err != nil {
			return err
		}
		c, err := testkit.Condition(obj, "Drifted")
		if err == nil && c["message"] != "ConfigMap/thing: data.message" {
			return fmt.Errorf("message is %q", c["message"])
		}
		return err
	})
	if now := o.eventually(configMaps, "thing", exists); now.GetResourceVersion() != edited.GetResourceVersion() {
		t.Error("what was edited was written")
	}
	if err := ready(o.eventually(gvk, "thing", exists)); err != nil {
		t.Errorf("drift is no failure: %v", err)
	}
	o.edit(config, set("one", "data", "message"))
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error { return condition(obj, "Drifted", "False", "NoDrift") })
	// Without the key it is put right, and the condition goes.
	o.edit(config, set("by hand", "data", "message"))
	o.stop()
	o.write("watches.yaml", fmt.Sprintf("- {group: %s, version: v1, kind: Thing, chart: DIR/chart}\n", gvk.Group))
	o.start()
	o.eventually(configMaps, "thing", message("one"))
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		if _, err := testkit.Condition(obj, "Drifted"); err == nil {
			return fmt.Errorf("the condition is still there")
		}
		return nil
	})
}

// A child that no owner reference can be put on wakes its owner, too.
func TestClusterScopedChildIsPutRight(t *testing.T) {
	t.Parallel()
	o, gvk := withChart(t, deployed, "  reconcilePeriod: 1h\n")
	o.start()
	thing := o.create(gvk, "thing", map[string]any{})
	o.eventually(gvk, "thing", ready)
	name := o.namespace + "-thing"
	o.untilNoticed("thing", func(n int) {
		o.edit(o.eventually(clusterRoleKind, name, exists), func(role *unstructured.Unstructured) {
			role.Object["rules"] = []any{map[string]any{"nonResourceURLs": []any{fmt.Sprint("/", n)}, "verbs": []any{"get"}}}
		})
	})
	o.eventually(clusterRoleKind, name, func(obj *unstructured.Unstructured) error {
		rules, _, _ := unstructured.NestedSlice(obj.Object, "rules")
		if rule, _ := rules[0].(map[string]any); rule["resources"] == nil {
			return fmt.Errorf("rules are %v", rules)
		}
		return nil
	})
	o.delete(thing)
	o.gone(gvk, "thing")
	if obj, err := o.get(t.Context(), clusterRoleKind, name); err == nil {
		t.Errorf("%s is left", obj.GetName())
	}
}

// Failed upgrades end, and neither the history nor the number of tries grows for ever.
func TestFailingUpgradeStalls(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"chart/Chart.yaml": deployed["chart/Chart.yaml"],
		"chart/templates/all.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: '{{ .Release.Name }}'}\n" +
			"spec: {ports: [{port: {{ .Values.port }}}]}\n",
	}
	o, gvk := withChart(t, files, "  reconcilePeriod: 100ms\n  retry: {backoff: 100ms}\n  upgrade: {remediation: {retries: 2}}\n")
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"port": int64(80)})
	o.eventually(gvk, "thing", ready)
	o.edit(thing, set(int64(99999), "spec", "port"))
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error { return condition(obj, "Stalled", "True", "UpgradeError") })
	o.failsWith(thing, "UpgradeError", "99999")
	tries := o.log.count(`"outcome":"Transient"`, `"name":"thing"`)
	if tries != 2 {
		t.Errorf("%d tries before the last", tries)
	}
	o.stop()
	o.start()
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error { return condition(obj, "Stalled", "True", "UpgradeError") })
	if got := strings.Join(o.history("thing"), " "); got != "deployed failed" {
		t.Errorf("history is %s", got)
	}
	o.edit(thing, set(int64(81), "spec", "port"))
	o.eventually(gvk, "thing", ready)
}
