package helm

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// The API server goes away while a run waits for a hook, and comes back.
func TestAPIServerRestartsInTheMiddleOfARun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane of its own")
	}
	private := testkit.NewPrivate(t)
	config := private.Config(t)
	testkit.InstallCRD(t, config, appKind)
	c := testkit.Client(t, config)
	w := &world{t: t, config: config, mapper: testkit.Mapper(t, config), client: c, namespace: "default"}
	e := w.engine("hooks")
	job := w.job("one", hooks("pre-install", "hang"))
	hung := make(chan struct{})
	job.Progress = func(e engine.Event) {
		if e.Task == "hook Job/one-pre-install" && e.Kind == engine.EventTaskStarted {
			close(hung)
		}
	}
	results := make(chan engine.Result, 1)
	go func() {
		result, _ := e.Run(t.Context(), job)
		results <- result
	}()
	<-hung
	private.RestartAPIServer(t)
	w.delete(jobs, w.namespace, "one-pre-install") // a hook that is gone has ended
	select {
	case result := <-results:
		if result.Outcome != engine.Changed {
			t.Errorf("outcome %s: %s", result.Outcome, result.Message)
		}
	case <-time.After(time.Minute):
		t.Fatal("the run has not noticed that the API server is back")
	}
	if diff := cmp.Diff([]string{"deployed"}, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	w.did(w.engine("hooks"), job, engine.ActionNone)
}
