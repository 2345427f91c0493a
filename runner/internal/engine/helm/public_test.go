package helm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// chartsDirectory names a directory of charts that nobody here wrote, one directory or archive each. A file of values
// may lie beside one: web.yaml beside web.
const chartsDirectory = "CHARTBOOK_TEST_CHARTS"

// TestPublicCharts takes each chart through its life. It runs where there are charts; those of this repository have
// tests of their own.
func TestPublicCharts(t *testing.T) {
	if os.Getenv(chartsDirectory) == "" {
		t.Skip(chartsDirectory + " is not set")
	}
	w := newWorld(t)
	publicCharts(t, func(t *testing.T, path string, c *chart.Chart, values map[string]any) {
		one := *w
		one.t = t
		one.namespace = one.otherNamespace()
		one.publicChart(path, c, values)
	})
}

// publicCharts runs a test for each of the charts.
func publicCharts(t *testing.T, test func(t *testing.T, path string, c *chart.Chart, values map[string]any)) {
	t.Helper()
	dir := os.Getenv(chartsDirectory)
	if dir == "" {
		t.Skip(chartsDirectory + " is not set")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if strings.HasSuffix(path, ".yaml") {
			continue
		}
		t.Run(entry.Name(), func(t *testing.T) {
			c, err := loader.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if c.Metadata.Type == "library" {
				t.Skip("it is a library")
			}
			values := map[string]any{}
			if text, err := os.ReadFile(strings.TrimSuffix(path, ".tgz") + ".yaml"); err == nil {
				if err := yaml.Unmarshal(text, &values); err != nil {
					t.Fatal(err)
				}
			}
			test(t, path, c, values)
		})
	}
}

// TestPublicChartsRenderAsWithHelm needs no cluster.
func TestPublicChartsRenderAsWithHelm(t *testing.T) {
	publicCharts(t, func(t *testing.T, path string, _ *chart.Chart, values map[string]any) {
		want, again := helmTemplate(t, path, "it", "space", values, nil), helmTemplate(t, path, "it", "space", values, nil)
		got, err := Template(path, "it", "space", values)
		if err != nil {
			t.Fatal(err)
		}
		if want != again {
			t.Log("it renders something else each time")
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-helm template +here):\n%s", diff)
		}
	})
}

func (w *world) publicChart(path string, c *chart.Chart, values map[string]any) {
	w.t.Helper()
	e := w.engine(path)
	job := w.job("it", values)
	events := listen(&job)
	w.t.Cleanup(func() {
		for _, event := range events() {
			if w.t.Failed() {
				w.t.Logf("%s %s %s", event.Kind, event.Task, event.Message)
			}
		}
	})
	w.sameAsHelm(e, job, path)
	installed := w.did(e, job, engine.ActionInstall)
	for i := range 3 {
		if result := w.did(e, job, engine.ActionNone); result.APIRequests != 0 {
			w.t.Errorf("idle pass %d takes %d requests", i+1, result.APIRequests)
		}
	}
	settled := w.did(w.engine(path), verified(job), engine.ActionNone)
	w.t.Logf("%s %s: %d objects, installed with %d requests, looked at with %d", c.Name(), c.Metadata.Version,
		len(installed.Children), installed.APIRequests, settled.APIRequests)
	job.Inputs = otherValues(c.Values, values)
	w.did(e, job, engine.ActionUpgrade)
	w.did(w.engine(path), verified(job), engine.ActionNone)
	w.run(e, finalize(job), engine.Changed)
	for _, child := range installed.Children {
		if w.exists(child.GVK, child.Namespace, child.Name) && !kept(w.get(child.GVK, child.Namespace, child.Name)) {
			w.t.Errorf("%s %s is left", child.GVK.Kind, child.Name)
		}
	}
}

// sameAsHelm compares what is rendered with what Helm renders, if a chart renders the same each time.
func (w *world) sameAsHelm(e *Engine, job engine.Job, path string) {
	w.t.Helper()
	got, err := e.Render(w.t.Context(), job)
	if err != nil {
		w.t.Fatal(err)
	}
	want, err := w.stockRender(path, job)
	if err != nil && strings.Contains(err.Error(), "ensure CRDs are installed first") {
		w.t.Log("stock helm renders it for no cluster without its CRDs")
		return
	}
	again, errAgain := w.stockRender(path, job)
	if err := errors.Join(err, errAgain); err != nil {
		w.t.Fatalf("stock helm: %v", err)
	}
	if want != again {
		w.t.Log("it renders something else each time")
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("(-helm install --dry-run=server +here):\n%s", diff)
	}
}

func (w *world) stockRender(path string, job engine.Job) (string, error) {
	w.t.Helper()
	c, err := loader.Load(path)
	if err != nil {
		return "", err
	}
	act := action.NewInstall(w.stock())
	act.DryRun, act.DryRunOption, act.DisableOpenAPIValidation = true, "server", true
	act.ReleaseName, act.Namespace, act.SkipCRDs = job.Owner.Name, w.namespace, true
	rel, err := act.Run(c, cloneMap(job.Inputs))
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(rel.Manifest) + "\n"
	for _, hook := range rel.Hooks {
		text += "---\n# Source: " + hook.Path + "\n" + hook.Manifest + "\n"
	}
	return text, nil
}

// otherValues returns values with one change: another number of replicas if the chart has one, else a key that means
// nothing to it.
func otherValues(defaults, values map[string]any) map[string]any {
	out := cloneMap(values)
	for _, path := range []string{"replicaCount", "replicas", "server.replicas", "controller.replicaCount", "deployment.replicas"} {
		at := chartutil.Values(defaults)
		parents := strings.Split(path, ".")
		for _, parent := range parents[:len(parents)-1] {
			at, _ = at[parent].(map[string]any)
		}
		key := parents[len(parents)-1]
		if _, ok := at[key].(float64); !ok {
			continue
		}
		inner := map[string]any{key: int64(2)}
		for i := len(parents) - 2; i >= 0; i-- {
			inner = map[string]any{parents[i]: inner}
		}
		return chartutil.CoalesceTables(inner, out)
	}
	out["global"] = chartutil.CoalesceTables(map[string]any{"chartbookTest": true}, map[string]any{})
	return out
}
