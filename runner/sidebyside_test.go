package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// Two versions of one chart run side by side, and a label moves a resource from one to the other.
func TestVersionsOfAChartSideBySide(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	files := map[string]string{}
	for name, text := range chart {
		files[name] = text
		text = strings.ReplaceAll(text, "version: 0.1.0", "version: 0.2.0")
		files[strings.Replace(name, "chart/", "next/", 1)] = strings.ReplaceAll(text, "'{{ .Values.message }}'", "'{{ .Values.message }} of the next'")
	}
	watch := "- group: %s\n  version: v1\n  kind: Thing\n  chart: DIR/%s\n  reconcilePeriod: 1h\n  selector: {matchLabels: {channel: %s}}\n"
	files["watches.yaml"] = fmt.Sprintf(watch+watch, gvk.Group, "chart", "stable", gvk.Group, "next", "fast")
	o := setup(t, testkit.Cluster(t), files)
	o.start()
	channel := func(name string) func(*unstructured.Unstructured) {
		return func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"channel": name}) }
	}
	spec := map[string]any{"message": "text"}
	o.create(gvk, "fast", spec, channel("fast"))
	moving := o.create(gvk, "moving", spec, channel("stable"))
	o.eventually(configMaps, "fast", message("text of the next"))
	before := o.eventually(configMaps, "moving", message("text"))
	o.eventually(gvk, "moving", ready)

	o.edit(moving, channel("fast"))
	after := o.eventually(configMaps, "moving", message("text of the next"))
	if after.GetUID() != before.GetUID() {
		t.Error("the object was made anew")
	}
	o.wantRevisions("moving", 2)
	o.edit(moving, channel("stable"))
	o.eventually(configMaps, "moving", message("text"))
	o.wantRevisions("moving", 3)
	o.edit(after, set("by hand", "data", "message"))
	o.eventually(configMaps, "moving", message("text"))

	o.edit(moving, channel("none"))
	o.gone(configMaps, "moving")
	o.edit(moving, channel("fast"))
	o.eventually(configMaps, "moving", message("text of the next"))
	o.delete(moving)
	o.gone(gvk, "moving")
	o.gone(configMaps, "moving")
	o.wantRevisions("moving", 0)
	o.eventually(configMaps, "fast", message("text of the next"))
}

// One kind in two groups has a chart in each. A release has one of them.
func TestChartsForOneKindInTwoGroups(t *testing.T) {
	t.Parallel()
	one := kindFor(t)
	two := one
	two.Group = "two." + one.Group
	testkit.InstallCRD(t, testkit.Cluster(t), two)
	files := map[string]string{}
	for name, text := range chart {
		files[name] = text
		files[strings.Replace(name, "chart/", "other/", 1)] = strings.ReplaceAll(text, "'{{ .Values.message }}'", "'{{ .Values.message }} of the other'")
	}
	watch := "- {group: %s, version: v1, kind: Thing, chart: DIR/%s, reconcilePeriod: 1h}\n"
	files["watches.yaml"] = fmt.Sprintf(watch+watch, one.Group, "chart", two.Group, "other")
	o := setup(t, testkit.Cluster(t), files)
	o.start()
	spec := map[string]any{"message": "text"}
	o.create(one, "first", spec)
	second := o.create(two, "second", spec)
	o.eventually(configMaps, "first", message("text"))
	o.eventually(configMaps, "second", message("text of the other"))
	o.failsWith(o.create(two, "first", spec), "ReleaseTaken", "Thing."+one.Group)
	o.delete(second)
	o.gone(configMaps, "second")
	o.eventually(configMaps, "first", message("text"))
}
