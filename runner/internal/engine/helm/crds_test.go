package helm

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

var definitions = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// bitChart is a chart with a definition and an object of its kind.
type bitChart struct {
	*world
	dir   string
	group string
}

// newBitChart returns one whose definition has these versions, the last of them stored, and these fields.
func newBitChart(w *world, versions []string, fields ...string) *bitChart {
	w.t.Helper()
	c := &bitChart{world: w, dir: copyChart(w.t, "plain"), group: "bits" + w.namespace[len(w.namespace)-5:] + ".example.com"}
	c.define(versions, fields...)
	w.t.Cleanup(func() {
		crd := &unstructured.Unstructured{}
		crd.SetGroupVersionKind(definitions)
		crd.SetName("bits." + c.group)
		_ = w.client.Delete(context.Background(), crd) // best effort: the group is this test's own
	})
	return c
}

// define writes the definition and an object with all of its fields.
func (c *bitChart) define(versions []string, fields ...string) {
	c.t.Helper()
	properties := ""
	for _, field := range fields {
		properties += field + ": {type: string}, "
	}
	var list []string
	for i, version := range versions {
		list = append(list, fmt.Sprintf("{name: %s, served: true, storage: %v, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s}}}}}}",
			version, i == len(versions)-1, strings.TrimSuffix(properties, ", ")))
	}
	writeFile(c.t, c.dir+"/crds/crd.yaml", fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bits.%[1]s, labels: {from: chart}}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: bits, singular: bit, kind: Bit, listKind: BitList}
  versions: [%[2]s]
`, c.group, strings.Join(list, ", ")))
	object := fmt.Sprintf("apiVersion: %s/%s\nkind: Bit\nmetadata: {name: '{{ .Release.Name }}'}\nspec:\n", c.group, versions[len(versions)-1])
	for _, field := range fields {
		object += "  " + field + ": '{{ .Values.message }}'\n"
	}
	writeFile(c.t, c.dir+"/templates/bit.yaml", object)
}

// field returns a field of the object.
func (c *bitChart) field(version, name, field string) any {
	c.t.Helper()
	bit := c.get(schema.GroupVersionKind{Group: c.group, Version: version, Kind: "Bit"}, c.namespace, name)
	value, _, _ := unstructured.NestedFieldNoCopy(bit.Object, "spec", field)
	return value
}

// Templates may ask for the kinds that the chart itself brings along.
func TestCapabilitiesAreThoseAfterTheDefinitions(t *testing.T) {
	w := newWorld(t)
	c := newBitChart(w, []string{"v1"}, "size")
	writeFile(t, c.dir+"/templates/asks.yaml", "{{ if .Capabilities.APIVersions.Has \""+c.group+"/v1\" }}{apiVersion: v1, kind: ConfigMap, metadata: {name: it-is-there}}{{ end }}")
	e, job := w.engine(c.dir), w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	if !w.exists(configMaps, w.namespace, "it-is-there") {
		t.Error("the template did not see the kind")
	}
	if result := w.did(e, job, engine.ActionNone); result.APIRequests != 0 {
		t.Errorf("an idle pass takes %d requests", result.APIRequests)
	}
}

// A chart that comes to need a new field of its kind gets it, if that is what the watch asks for.
func TestReplacedDefinitionsLetNewFieldsLive(t *testing.T) {
	w := newWorld(t)
	c := newBitChart(w, []string{"v1"}, "size")
	job := w.job("one", nil)
	w.did(w.engine(c.dir), job, engine.ActionInstall)
	crd := w.get(definitions, "", "bits."+c.group)
	w.patch(crd, func(o *unstructured.Unstructured) { setLabel(o, "from", "someone"); setLabel(o, "other", "label") })

	c.define([]string{"v1"}, "size", "color")
	w.did(w.engine(c.dir), job, engine.ActionUpgrade)
	if got := c.field("v1", "one", "color"); got != nil {
		t.Errorf("a definition was replaced although nobody asked: %v", got)
	}
	replacing := w.engine(c.dir, func(c *Config) { c.CRDs = CRDReplace })
	job.Inputs = map[string]any{"message": "blue"}
	w.did(replacing, job, engine.ActionUpgrade)
	if got := c.field("v1", "one", "color"); got != "blue" {
		t.Errorf("the new field is %v", got)
	}
	after := w.get(definitions, "", "bits."+c.group)
	if after.GetLabels()["from"] != "chart" || after.GetLabels()["other"] != "label" || len(after.GetOwnerReferences()) != 0 {
		t.Errorf("the definition has labels %v and owners %v", after.GetLabels(), after.GetOwnerReferences())
	}
	job.Inputs = map[string]any{"message": "red"}
	w.did(replacing, job, engine.ActionUpgrade)
	if again := w.get(definitions, "", "bits."+c.group); again.GetResourceVersion() != after.GetResourceVersion() {
		t.Error("a definition that is as it should be was written")
	}
	w.run(replacing, finalize(job), engine.Changed)
	if !w.exists(definitions, "", "bits."+c.group) {
		t.Error("the definition went with the release")
	}
}

func TestStoredVersionsDoNotVanish(t *testing.T) {
	w := newWorld(t)
	c := newBitChart(w, []string{"v1"}, "size")
	replacing := func() *Engine { return w.engine(c.dir, func(c *Config) { c.CRDs = CRDReplace }) }
	job := w.job("one", map[string]any{"message": "first"})
	w.did(replacing(), job, engine.ActionInstall)

	c.define([]string{"v2"}, "size")
	job.Inputs = map[string]any{"message": "second"}
	result := w.run(replacing(), job, engine.Permanent)
	if result.Reason != engine.ReasonStoredVersion || !strings.Contains(result.Message, "bits."+c.group) || !strings.Contains(result.Message, "v1") {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	if got := c.field("v1", "one", "size"); got != "first" || len(w.revisions("one")) != 1 {
		t.Errorf("something was applied nevertheless: %v, revisions %v", got, w.revisions("one"))
	}
	c.define([]string{"v1", "v2"}, "size")
	w.did(replacing(), job, engine.ActionUpgrade)
	if got := c.field("v2", "one", "size"); got != "second" {
		t.Errorf("the field is %v", got)
	}
}

// Stock Helm never makes a definition after the first install.
func TestDefinitionThatComesWithAnUpgradeIsMade(t *testing.T) {
	w := newWorld(t)
	c := newBitChart(w, []string{"v1"}, "size")
	crd, object := c.dir+"/crds/crd.yaml", c.dir+"/templates/bit.yaml"
	for _, file := range []string{crd, object} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	job := w.job("one", map[string]any{"message": "first"})
	w.did(w.engine(c.dir), job, engine.ActionInstall)
	c.define([]string{"v1"}, "size")
	skipping := w.engine(c.dir, func(c *Config) { c.CRDs = CRDSkip })
	result := w.run(skipping, job, engine.Transient)
	if result.Reason != engine.ReasonUpgradeFailed || w.exists(definitions, "", "bits."+c.group) {
		t.Errorf("with Skip: reason %s, message %q", result.Reason, result.Message)
	}
	e := w.engine(c.dir)
	w.did(e, job, engine.ActionUpgrade)
	if got := c.field("v1", "one", "size"); got != "first" {
		t.Errorf("the field is %v", got)
	}
	w.did(e, job, engine.ActionNone)
}

// Who may install a chart need not be one who may read definitions.
func TestDefinitionsOfOthersNeedNoRights(t *testing.T) {
	w := newWorld(t)
	c := newBitChart(w, []string{"v1"}, "size")
	w.did(w.engine(c.dir), w.job("first", nil), engine.ActionInstall)
	limited := w.limited("secrets", "configmaps", "deployments.apps", "services", "bits."+c.group)
	w.did(w.engine(c.dir, func(c *Config) { c.RESTConfig = limited }), w.job("second", nil), engine.ActionInstall)
	replacing := w.engine(c.dir, func(c *Config) { c.RESTConfig, c.CRDs = limited, CRDReplace })
	if result := w.run(replacing, w.job("third", nil), engine.Transient); result.Reason != engine.ReasonForbidden {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
}

func TestReplacementKeepsTheWebhooksAuthority(t *testing.T) {
	webhook := func(ca string) *unstructured.Unstructured {
		config := map[string]any{"service": map[string]any{"name": "s"}}
		if ca != "" {
			config["caBundle"] = ca
		}
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"conversion": map[string]any{"strategy": "Webhook", "webhook": map[string]any{"clientConfig": config}},
		}}}
	}
	for _, test := range []struct{ why, chart, live, want string }{
		{"put in by someone", "", "injected", "injected"},
		{"the chart's own", "chart", "injected", "chart"},
		{"none at all", "", "", ""},
	} {
		out := replacement(webhook(test.chart), webhook(test.live))
		if got, _, _ := unstructured.NestedString(out.Object, "spec", "conversion", "webhook", "clientConfig", "caBundle"); got != test.want {
			t.Errorf("%s: %q", test.why, got)
		}
	}
}
