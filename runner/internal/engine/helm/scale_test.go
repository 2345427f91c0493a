package helm

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// noise returns bytes that do not compress, in base64.
func noise(t *testing.T, size int) string {
	t.Helper()
	data := make([]byte, size)
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(data)
}

// A chart of 1,200 files and a manifest of 3 MiB, as real ones are: most of it compresses.
func TestBigChartWithABigManifest(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "plain")
	for i := range 1200 {
		writeFile(t, fmt.Sprintf("%s/files/part-%04d.txt", dir, i), noise(t, 1<<10))
	}
	line := strings.Repeat("the quick brown fox jumps over the lazy dog; ", 20)
	writeFile(t, dir+"/templates/dashboards.yaml", `
{{- range $i := until 4 }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ $.Release.Name }}-{{ $i }}"}
data:
{{- range $k := until 860 }}
  "line-{{ $i }}-{{ $k }}": "{{ $.Values.message }} `+line+`"
{{- end }}
{{- end }}
`)
	e := w.engine(dir)
	job := w.job("one", map[string]any{"message": "first"})
	result := w.did(e, job, engine.ActionInstall)
	if size := len(result.Release.Manifest); size < 3<<20 {
		t.Fatalf("the manifest has %d bytes", size)
	}
	job.Inputs = map[string]any{"message": "second"}
	w.did(e, job, engine.ActionUpgrade)
	w.did(w.engine(dir), job, engine.ActionNone)
	w.checkStock("one", "second")
	if n := w.parts(); n != 0 {
		t.Errorf("%d parts were kept although the manifest fits", n)
	}
	if got := w.message("one-0", "line-0-0"); !strings.HasPrefix(got, "first ") {
		t.Errorf("after a rollback with stock helm the object says %.20q", got)
	}
	w.did(w.engine(dir), job, engine.ActionUpgrade)
	if got := w.message("one-0", "line-0-0"); !strings.HasPrefix(got, "second ") {
		t.Errorf("after that the operator leaves %.20q", got)
	}
	w.run(e, finalize(job), engine.Changed)
}

// Where nothing compresses, the record has the manifest in outline, and the whole of it lies beside.
func TestManifestThatNoSecretHolds(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "plain")
	blobs := []string{noise(t, 800<<10), noise(t, 800<<10), noise(t, 800<<10)}
	template := ""
	for i, blob := range blobs {
		template += fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-%d'}\nbinaryData: {blob: %s}\ndata: {message: {{ .Values.message }}}\n", i, blob)
	}
	writeFile(t, dir+"/templates/blobs.yaml", template)
	blob := func(i int) string {
		t.Helper()
		text, _, _ := unstructured.NestedString(w.get(configMaps, w.namespace, fmt.Sprintf("one-%d", i)).Object, "binaryData", "blob")
		return text
	}
	e := w.engine(dir)
	job := w.job("one", map[string]any{"message": "first"})
	result := w.did(e, job, engine.ActionInstall)
	if size := len(result.Release.Manifest); size < 3<<20 {
		t.Fatalf("the manifest has %d bytes", size)
	}
	w.did(w.engine(dir), job, engine.ActionNone)
	w.delete(configMaps, w.namespace, "one-1")
	w.did(w.engine(dir), verified(job), engine.ActionRepair)
	if blob(1) != blobs[1] {
		t.Error("an object that was made again is not as the chart has it")
	}
	before := w.parts()
	job.Inputs = map[string]any{"message": "second"}
	w.did(e, job, engine.ActionUpgrade)
	w.did(w.engine(dir), job, engine.ActionNone)
	if after := w.parts(); before == 0 || after != 2*before {
		t.Errorf("%d parts for one revision, %d for two", before, after)
	}
	w.checkStock("one", "second")
	for i := range blobs {
		if blob(i) != blobs[i] {
			t.Errorf("stock helm has changed what it does not see, in %d", i)
		}
	}
	w.did(w.engine(dir), job, engine.ActionUpgrade)
	if got := w.message("one-0", "message"); got != "second" {
		t.Errorf("after a rollback with stock helm the operator leaves %q", got)
	}
	short := w.engine(dir, func(c *Config) { c.MaxHistory = 1 })
	job.Inputs = map[string]any{"message": "third"}
	w.did(short, job, engine.ActionUpgrade)
	if n := w.parts(); n > 2*before {
		t.Errorf("%d parts are left of revisions that are gone", n)
	}
	w.run(e, finalize(job), engine.Changed)
	if n := w.parts(); n != 0 {
		t.Errorf("%d parts are left", n)
	}
}

// parts counts the Secrets beside release records.
func (w *world) parts() int {
	w.t.Helper()
	list := &corev1.SecretList{}
	if err := w.client.List(w.t.Context(), list, kube.InNamespace(w.namespace), kube.HasLabels{releaseLabel}); err != nil {
		w.t.Fatal(err)
	}
	return len(list.Items)
}

func (w *world) message(name, key string) string {
	w.t.Helper()
	text, _, _ := unstructured.NestedString(w.get(configMaps, w.namespace, name).Object, "data", key)
	return text
}

// checkStock does with a release of two revisions what helm list, status, get, history and rollback do.
func (w *world) checkStock(name, message string) {
	w.t.Helper()
	list, err := action.NewList(w.stock()).Run()
	if err != nil || len(list) != 1 || list[0].Name != name || list[0].Version != 2 {
		w.t.Fatalf("helm list gives %d releases: %v", len(list), err)
	}
	if rel, err := action.NewStatus(w.stock()).Run(name); err != nil || rel.Info.Status != "deployed" {
		w.t.Errorf("helm status: %v", err)
	}
	if values, err := action.NewGetValues(w.stock()).Run(name); err != nil || values["message"] != message {
		w.t.Errorf("helm get values gives %v: %v", values, err)
	}
	rel, err := action.NewGet(w.stock()).Run(name)
	if err != nil || !strings.Contains(rel.Manifest, "name: one-config") || !strings.Contains(rel.Manifest, "one-0") {
		w.t.Errorf("helm get manifest: %v", err)
	}
	if diff := cmp.Diff([]string{"superseded", "deployed"}, w.revisions(name)); diff != "" {
		w.t.Errorf("helm history (-want +got):\n%s", diff)
	}
	if err := action.NewRollback(w.stock()).Run(name); err != nil {
		w.t.Errorf("helm rollback: %v", err)
	}
}

func TestOutline(t *testing.T) {
	long := strings.Repeat("x", 100)
	manifest := "---\n# Source: a\nkind: A\nmetadata: {name: a}\nspec: {short: s}\n" +
		"---\nkind: B\nmetadata: {name: b}\ndata: {short: s, long: " + long + "}\nlist: [{long: " + long + "}]\n"
	want := "---\n# Source: a\nkind: A\nmetadata: {name: a}\nspec: {short: s}\n" +
		"---\n# Left out here, since a Secret cannot hold it: data.long (100 bytes)\ndata:\n  short: s\nkind: B\nlist:\n- long: " + long + "\nmetadata:\n  name: b\n"
	if diff := cmp.Diff(want, outline(manifest, 50)); diff != "" {
		t.Errorf("outline (-want +got):\n%s", diff)
	}
	if got := outline(manifest, 101); !strings.Contains(got, "long: "+long) {
		t.Errorf("nothing is too long, yet something is left out:\n%s", got)
	}
}
