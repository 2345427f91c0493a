package runner_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// chart is a chart with a ConfigMap, a random Secret and a schema.
var chart = map[string]string{
	"chart/Chart.yaml":         "apiVersion: v2\nname: thing\nversion: 0.1.0\n",
	"chart/values.yaml":        "message: default\nflag: true\n",
	"chart/values.schema.json": `{"type": "object", "properties": {"message": {"type": "string"}, "flag": {"type": "boolean"}}}`,
	"chart/templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\n" +
		"data: {message: '{{ .Values.message }}', flag: '{{ if .Values.flag }}on{{ else }}off{{ end }}'}\n",
	"chart/templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: '{{ .Release.Name }}'}\nstringData: {password: '{{ randAlphaNum 20 }}'}\n",
}

func chartOperator(t *testing.T, keys string) (*operator, schema.GroupVersionKind) {
	t.Helper()
	gvk := kindFor(t)
	files := map[string]string{
		"watches.yaml": fmt.Sprintf("- group: %s\n  version: v1\n  kind: Thing\n  chart: DIR/chart\n%s", gvk.Group, keys),
	}
	maps.Copy(files, chart)
	return setup(t, testkit.Cluster(t), files), gvk
}

// revisions counts the revisions that a release has.
func (o *operator) revisions(ctx context.Context, release string) (int, error) {
	list := &corev1.SecretList{}
	err := o.client.List(ctx, list, client.InNamespace(o.namespace), client.MatchingLabels{"owner": "helm", "name": release})
	return len(list.Items), err
}

func (o *operator) wantRevisions(release string, want int) {
	o.t.Helper()
	if n, err := o.revisions(o.t.Context(), release); err != nil || n != want {
		o.t.Errorf("release %s has %d revisions, want %d: %v", release, n, want, err)
	}
}

func TestChartFollowsItsResource(t *testing.T) {
	t.Parallel()
	o, gvk := chartOperator(t, "  reconcilePeriod: 200ms\n  overrideValues:\n    flag: false\n")
	o.start()
	thing := o.create(gvk, "thing", map[string]any{})
	first := o.eventually(gvk, "thing", ready)
	child := o.eventually(configMaps, "thing", message("default"))
	if flag, _, _ := unstructured.NestedString(child.Object, "data", "flag"); flag != "off" {
		t.Errorf("an override of false is %q in a template", flag)
	}
	o.eventuallyEvent("thing", "Warning", "OverrideValuesInUse", `"flag"`)
	before := o.log.count(`"trigger":"period"`, `"outcome":"Succeeded"`)
	testkit.Eventually(t, soon, func(context.Context) error {
		if n := o.log.count(`"trigger":"period"`, `"outcome":"Succeeded"`) - before; n < 10 {
			return fmt.Errorf("%d idle passes", n)
		}
		return nil
	})
	o.wantRevisions("thing", 1)
	idle, err := o.get(t.Context(), gvk, "thing")
	if err != nil {
		t.Fatal(err)
	}
	if idle.GetResourceVersion() != first.GetResourceVersion() {
		t.Errorf("ten idle passes wrote the resource:\n%v\n%v", first.Object["status"], idle.Object["status"])
	}

	o.edit(thing, set("two", "spec", "message"))
	o.eventually(configMaps, "thing", message("two"))
	o.eventually(gvk, "thing", ready)
	o.wantRevisions("thing", 2)
	o.edit(child, set("by hand", "data", "message"))
	o.eventually(configMaps, "thing", message("two"))
	o.delete(child)
	o.eventually(configMaps, "thing", message("two"))
	o.wantRevisions("thing", 2)

	o.delete(thing)
	o.gone(gvk, "thing")
	o.gone(configMaps, "thing")
	o.wantRevisions("thing", 0)
}

func TestChartFailuresSayWhy(t *testing.T) {
	t.Parallel()
	o, gvk := chartOperator(t, "")
	o.start()
	o.failsWith(o.create(gvk, "wrong-type", map[string]any{"message": int64(5)}), "InvalidValues", "message")
	o.failsWith(o.create(gvk, strings.Repeat("n", 63), map[string]any{}), "InvalidName", "53")

	thing := o.create(gvk, "thing", map[string]any{})
	o.eventually(gvk, "thing", ready)
	o.write("chart/templates/config.yaml", "{{ .Values.message | nosuchfunction }}\n")
	o.edit(thing, set("two", "spec", "message"))
	o.failsWith(thing, "InvalidChart", "nosuchfunction")
	// What is there can be cleaned up all the same.
	o.delete(thing)
	o.gone(gvk, "thing")
	o.gone(configMaps, "thing")
}
