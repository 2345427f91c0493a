package runner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// How a spec and its chart's defaults come together (UP K3, K4, K5).
func TestValuesOfAChart(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml":     "- {group: " + gvk.Group + ", version: v1, kind: Thing, chart: DIR/chart, overrideValues: {enabled: $CHARTBOOK_TEST_NOT_SET, switch: false, text: \"false\"}}\n",
		"chart/Chart.yaml": "apiVersion: v2\nname: thing\nversion: 0.1.0\n",
		"chart/values.yaml": `
id: 1
image: {repository: nginx, tag: latest}
list: [a, b]
gone: {default: there}
kept: {default: there}
switch: true
`,
		"chart/templates/config.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data:
  id: "{{ .Values.id }}"
  long: "{{ .Values.long }}"
  sum: "{{ add .Values.id 1 }}"
  image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
  list: "{{ .Values.list | join "," }}"
  gone: "{{ hasKey .Values "gone" }}"
  kept: "{{ .Values.kept.default }}"
  switch: "{{ if .Values.switch }}on{{ else }}off{{ end }}"
  text: "{{ if .Values.text }}true{{ else }}false{{ end }}"
  enabled: "{{ .Values.enabled }}"
`,
	})
	o.start()
	var spec map[string]any
	if err := yaml.Unmarshal([]byte("{image: {tag: \"1\"}, list: [c], gone: null, kept: {}}"), &spec); err != nil {
		t.Fatal(err)
	}
	spec["id"], spec["long"] = int64(12345678), int64(9007199254740993)
	o.create(gvk, "thing", spec)
	live := o.eventually(configMaps, "thing", func(*unstructured.Unstructured) error { return nil })
	data, _, _ := unstructured.NestedStringMap(live.Object, "data")
	want := map[string]string{
		"id": "12345678", "long": "9007199254740993", "sum": "12345679", "image": "nginx:1", "list": "c", "gone": "false",
		"kept": "there", "switch": "off", "text": "true", "enabled": "",
	}
	if diff := cmp.Diff(want, data); diff != "" {
		t.Errorf("what the chart makes of it (-want +got):\n%s", diff)
	}
}
