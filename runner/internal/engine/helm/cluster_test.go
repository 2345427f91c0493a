package helm

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

func TestArchiveIsTheSameChartAsItsDirectory(t *testing.T) {
	w := newWorld(t)
	c, err := loader.Load(chartDir("umbrella"))
	if err != nil {
		t.Fatal(err)
	}
	archive, err := chartutil.Save(c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	job := w.job("one", nil)
	w.did(w.engine(archive), job, engine.ActionInstall)
	w.did(w.engine(archive), job, engine.ActionNone)
}

func TestReplacedFilesTakeEffect(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "plain")
	e := w.engine(dir)
	e.charts.clock = &steppingClock{now: time.Now()}
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	w.did(e, job, engine.ActionNone)
	same, err := os.ReadFile(filepath.Join(dir, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir+"/values.yaml", string(same)) // a new time, the same content
	w.did(e, job, engine.ActionNone)
	writeFile(t, dir+"/values.yaml", string(bytes.Replace(same, []byte("hello"), []byte("other"), 1)))
	w.did(e, job, engine.ActionUpgrade)
	writeFile(t, dir+"/templates/configmap.yaml", "{{ broken")
	result := w.run(e, job, engine.Permanent)
	if result.Reason != engine.ReasonInvalidChart {
		t.Errorf("reason %s", result.Reason)
	}
}

// steppingClock goes on by more than a chart is left unlooked at, each time it is asked.
type steppingClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *steppingClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(2 * restatAfter)
	return c.now
}

func (c *steppingClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Helm changes the chart that it works with: one resource's disabled dependency must not be another's.
func TestConcurrentResourcesShareNoChart(t *testing.T) {
	w := newWorld(t)
	e := w.engine("umbrella")
	var group sync.WaitGroup
	for i := range 8 {
		job := w.job(fmt.Sprintf("r%d", i), map[string]any{
			"one": map[string]any{"enabled": i%2 == 0, "message": fmt.Sprint("for ", i)},
			"two": map[string]any{"enabled": i%4 < 2},
		})
		group.Go(func() {
			result, err := e.Run(t.Context(), job)
			if err != nil || result.Outcome != engine.Changed {
				t.Errorf("%s: %v, outcome %s: %s", job.Owner.Name, err, result.Outcome, result.Message)
			}
		})
	}
	group.Wait()
	for i := range 8 {
		name := fmt.Sprintf("r%d", i)
		if got, want := w.exists(configMaps, w.namespace, name+"-one"), i%2 == 0; got != want {
			t.Errorf("%s has the first dependency: %v, want %v", name, got, want)
		}
		if got, want := w.exists(configMaps, w.namespace, name+"-two"), i%4 < 2; got != want {
			t.Errorf("%s has the second dependency: %v, want %v", name, got, want)
		}
		if i%2 == 0 {
			data := w.get(configMaps, w.namespace, name+"-one").Object["data"].(map[string]any)
			if data["message"] != fmt.Sprint("for ", i) {
				t.Errorf("%s holds %v", name, data)
			}
		}
	}
}

func TestNewKindsConcernOnlyChartsThatAsk(t *testing.T) {
	w := newWorld(t)
	gadgets := schema.GroupVersionKind{Group: "helmcaps.example.com", Version: "v1", Kind: "Gadget"}
	if w.kindServed(gadgets) {
		w.delete(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, "", "gadgets.helmcaps.example.com")
	}
	asks, other := w.engine("caps"), w.engine("plain")
	job, otherJob := w.job("one", nil), w.job("two", nil)
	w.did(asks, job, engine.ActionInstall)
	w.did(other, otherJob, engine.ActionInstall)

	testkit.InstallCRD(t, w.config, schema.GroupVersionKind{Group: "helmunrelated.example.com", Version: "v1", Kind: "Thing"})
	asks.cfg.Capabilities.Invalidate()
	w.did(asks, job, engine.ActionNone)

	testkit.InstallCRD(t, w.config, gadgets)
	asks.cfg.Capabilities.Invalidate()
	other.cfg.Capabilities.Invalidate()
	w.did(asks, job, engine.ActionUpgrade)
	if !w.exists(gadgets, w.namespace, "one") {
		t.Error("the object of the new kind was not made")
	}
	if result := w.did(other, otherJob, engine.ActionNone); result.APIRequests != 0 {
		t.Errorf("a chart that asks for nothing took %d requests", result.APIRequests)
	}
	w.delete(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, "", "gadgets.helmcaps.example.com")
}

func (w *world) kindServed(gvk schema.GroupVersionKind) bool {
	_, err := testkit.Mapper(w.t, w.config).RESTMapping(gvk.GroupKind(), gvk.Version)
	return err == nil
}

func TestCRDsOfTheChartAreInstalledOnce(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "plain")
	group := "helm" + strings.ToLower(w.namespace[len(w.namespace)-5:]) + ".example.com"
	writeFile(t, dir+"/crds/crd.yaml", fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bits.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: bits, singular: bit, kind: Bit, listKind: BitList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group))
	writeFile(t, dir+"/templates/bit.yaml", fmt.Sprintf(`
{{- if .Capabilities.APIVersions.Has "%[1]s/v1" }}
apiVersion: %[1]s/v1
kind: Bit
metadata: {name: {{ .Release.Name }}}
spec: {size: {{ .Values.replicas }}}
{{- end }}
`, group))
	e := w.engine(dir)
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	bits := schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Bit"}
	if !w.exists(bits, w.namespace, "one") {
		t.Fatal("the chart did not see the kind that it brought along")
	}
	w.did(e, job, engine.ActionNone)
	w.did(w.engine(dir), job, engine.ActionNone)
	// A release that was going on when its CRD was taken away can still be uninstalled.
	w.delete(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, "", "bits."+group)
	w.mapper = testkit.Mapper(t, w.config)
	w.run(w.engine(dir), finalize(job), engine.Changed)
}

func TestReleaseLargerThanASecret(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "plain")
	noise := make([]byte, 850<<10)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir+"/docs/manual.txt", base64.StdEncoding.EncodeToString(noise))
	e := w.engine(dir)
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	job.Inputs = map[string]any{"message": "new"}
	w.did(e, job, engine.ActionUpgrade)
	w.did(w.engine(dir), job, engine.ActionNone)
	w.run(e, finalize(job), engine.Changed)
}

func TestMissingRightsAreNamed(t *testing.T) {
	w := newWorld(t)
	limited := w.limited("secrets", "configmaps", "deployments.apps", "services:get")
	e := w.engine("plain", func(c *Config) { c.RESTConfig = limited })
	result := w.run(e, w.job("one", nil), engine.Transient)
	if result.Reason != engine.ReasonForbidden || !strings.HasPrefix(result.Message, "may not create services: ") {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	if len(result.Denials) != 1 || result.Denials[0].Verb != "create" || result.Denials[0].Resource != "services" {
		t.Errorf("denials are %+v", result.Denials)
	}
	t.Log(result.Message)
}

func TestUnreachableAPIServer(t *testing.T) {
	w := newWorld(t)
	nowhere := rest.CopyConfig(w.config)
	nowhere.Host = "https://127.0.0.1:1"
	e := w.engine("plain", func(c *Config) { c.RESTConfig = nowhere })
	result := w.run(e, w.job("one", nil), engine.Transient)
	if result.Message == "" || result.Reason == "" {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	w.run(e, finalize(w.job("one", nil)), engine.Transient)
}

func TestLogSinkGetsHelmsWordsOnFailure(t *testing.T) {
	w := newWorld(t)
	var lines []string
	e := w.engine("plain", func(c *Config) { c.LogSink = func(_ engine.Job, l []string) { lines = append(lines, l...) } })
	w.did(e, w.job("good", nil), engine.ActionInstall)
	if len(lines) != 0 {
		t.Errorf("a good run logged %q", lines)
	}
	w.run(e, w.job("bad", map[string]any{"fail": true}), engine.Transient)
	if len(lines) == 0 {
		t.Error("a failed run logged nothing")
	}
}
