package helm

import (
	"fmt"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// TestRequestsPerPass fixes what each pass costs the API server, so that a change of that is a decision.
func TestRequestsPerPass(t *testing.T) {
	w := newWorld(t)
	const children = 10
	dir := copyChart(t, "keep")
	writeFile(t, dir+"/templates/all.yaml", fmt.Sprintf(`
{{- range until %d }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ $.Release.Name }}-{{ . }}}
data: {message: {{ $.Values.message | default "none" | quote }}}
{{- end }}
`, children))
	e := w.engine(dir, func(c *Config) { c.Alone = true }) // else a slow run renews its claim
	w.did(e, w.job("warm", nil), engine.ActionInstall)     // asks for the cluster's capabilities, once
	job := w.job("one", nil)
	count := func(why string, e *Engine, job engine.Job, did engine.Action, want int) {
		t.Helper()
		if got := w.did(e, job, did).APIRequests; got != want {
			t.Errorf("%s with %d children takes %d requests, want %d", why, children, got, want)
		}
	}
	// The record: list, create, update. Each child: does it exist, create.
	count("an install", e, job, engine.ActionInstall, 3+2*children)
	count("a pass without anything to do", e, job, engine.ActionNone, 0)
	// The record: list, read.
	count("the same after a restart", w.engine(dir), job, engine.ActionNone, 2)
	// Each child: read.
	count("a look at the children", e, verified(job), engine.ActionNone, 2+children)
	w.delete(configMaps, w.namespace, "one-0")
	count("putting one back", e, verified(job), engine.ActionRepair, 3+children)
	job.Inputs = map[string]any{"message": "new"}
	// The record: list, read, create, update the old and the new. Each child: read twice (Helm), patch.
	count("an upgrade", e, job, engine.ActionUpgrade, 5+3*children)
	result := w.run(e, finalize(job), engine.Changed)
	// The record: list, read, update, delete each revision. Each child: delete.
	if got, want := result.APIRequests, 5+children; got != want {
		t.Errorf("an uninstall takes %d requests, want %d", got, want)
	}
}

func BenchmarkNothingToDo(b *testing.B) {
	cfg := Config{ChartPath: chartDir("umbrella"), RESTConfig: nowhere(), Mapper: noMapper{}}
	e, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	job := engine.Job{Owner: testOwner, Inputs: map[string]any{"message": "x", "list": []any{int64(1), int64(2)}}}
	r := e.newRun(b.Context(), job)
	if refusal := r.prepare(); refusal != nil {
		b.Fatal(refusal.Message)
	}
	e.remember(testOwner.UID, goodRun{digest: r.digest, release: engine.Release{Name: "one", Version: 1}})
	b.ReportAllocs()
	for b.Loop() {
		result, err := e.Run(b.Context(), job)
		if err != nil || result.Outcome != engine.Succeeded || result.APIRequests != 0 {
			b.Fatalf("%v, %+v", err, result)
		}
	}
}
