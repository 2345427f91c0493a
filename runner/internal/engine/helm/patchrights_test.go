package helm

import (
	"os"
	"strings"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// An operator that may make objects of a kind and not change them does well as long as none differs.
func TestPatchRightsAreNotNeededWhenNothingDiffers(t *testing.T) {
	w := newWorld(t)
	config := w.limited("secrets", "services:get,create,delete", "deployments.apps:get,create,delete", "configmaps")
	dir := copyChart(t, "plain")
	text, err := os.ReadFile(dir + "/templates/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// Helm's own patches take a quantity that is written in another way for a change.
	writeFile(t, dir+"/templates/deployment.yaml", strings.Replace(string(text), "cpu: 1000m, memory: 1024Mi", `cpu: "1", memory: 1Gi`, 1))
	e := w.engine(dir, func(c *Config) { c.RESTConfig = config })
	job := w.job("one", map[string]any{"message": "a"})
	steps := []struct {
		message string
		did     engine.Action
	}{{"a", engine.ActionInstall}, {"a", engine.ActionNone}, {"b", engine.ActionUpgrade}, {"b", engine.ActionNone}}
	for i, step := range steps {
		job.Inputs = map[string]any{"message": step.message} // which is in the ConfigMap only
		if result := w.did(e, verified(job), step.did); len(result.Denials) != 0 {
			t.Errorf("step %d: refused %+v", i, result.Denials)
		}
	}
	w.run(e, finalize(job), engine.Changed)
}
