package helm

import (
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// An operator that may make objects of a kind and not change them does well as long as none differs.
func TestPatchRightsAreNotNeededWhenNothingDiffers(t *testing.T) {
	w := newWorld(t)
	config := w.limited("secrets", "services:get,create,delete", "deployments.apps:get,create,delete", "configmaps")
	e := w.engine("plain", func(c *Config) { c.RESTConfig = config })
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
