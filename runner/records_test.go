package runner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// told returns what is told of runs, by the resource's name and the run's state; of several the oldest.
func told(t *testing.T, private string) map[string]runner.RunRecord {
	t.Helper()
	report, err := runner.Runs(t.Context(), runner.RunsOptions{PrivateDir: private})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]runner.RunRecord{}
	for _, r := range report.Runs {
		byName[r.Name+" "+string(r.State)] = r
	}
	return byName
}

func TestRunsAreTold(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := gated(t, gvk, "")
	var private string
	o.start(func(options *runner.Options) {
		options.MaxConcurrentRuns, options.MaxConcurrentReconciles = 1, 2
		options.Ansible.Executor = "direct"
		private = options.Ansible.PrivateDir
	})
	o.bar("one")
	o.create(gvk, "one", say("1"))
	o.atGate("one 1")
	o.create(gvk, "two", say("2"))
	testkit.Eventually(t, soon, func(context.Context) error {
		if waits, ok := told(t, private)["two queued"]; !ok || waits.WaitsFor != "Slot" || waits.Why != "the resource was created" { //nolint:contextcheck // the one of the test will do
			return fmt.Errorf("the second one is told of as %+v", waits)
		}
		return nil
	})
	if r := told(t, private)["one running"]; r.ID == "" || r.Asked != "direct" || r.Artifacts == "" {
		t.Errorf("the run in progress is told of as %+v", r)
	}
	o.unbar("one")
	one := o.eventually(gvk, "one", ready)
	o.eventually(gvk, "two", ready)

	r := told(t, private)["one ended"]
	if run, _ := one.Object["status"].(map[string]any)["run"].(map[string]any); run["id"] != r.ID || r.ID == "" {
		t.Errorf("status speaks of run %v, the records of %s", run["id"], r.ID)
	}
	if r.Outcome != "Changed" || r.Executor != "direct" || r.Tasks == nil || r.Tasks.Changed != 2 || r.Finished.Before(r.Started) {
		t.Errorf("the run that has ended is told of as %+v", r)
	}
	if _, err := os.Stat(filepath.Join(r.Artifacts, "stdout")); err != nil {
		t.Errorf("its artifacts are not where they are said to be: %v", err)
	}
	testkit.Eventually(t, soon, func(context.Context) error { // status is written before the next run is planned
		if r := told(t, private)["two planned"]; r.Trigger != "period" || r.Due.IsZero() { //nolint:contextcheck // the one of the test will do
			return fmt.Errorf("the next run is told of as %+v", r)
		}
		return nil
	})

	o.stop()
	report, err := runner.Runs(t.Context(), runner.RunsOptions{PrivateDir: private})
	if err != nil || len(report.Runs) != 2 || !strings.Contains(strings.Join(report.Notes, "\n"), "no operator is running") {
		t.Errorf("without an operator: %+v, %v", report, err)
	}
}

func TestRunsOfChartsAreTold(t *testing.T) {
	t.Parallel()
	o, gvk := chartOperator(t, "")
	var private string
	o.start(func(options *runner.Options) { private = options.Ansible.PrivateDir })
	o.create(gvk, "thing", map[string]any{})
	o.eventually(gvk, "thing", ready)
	r := told(t, private)["thing ended"]
	if r.Asked != "helm" || r.Release == nil || r.Release.Action != "install" || r.Artifacts != "" {
		t.Errorf("told: %+v", r)
	}
}

func TestWhoseRunsAreTold(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if _, err := runner.Runs(t.Context(), runner.RunsOptions{}); err == nil || !strings.Contains(err.Error(), "no operator has run here") {
		t.Errorf("where no operator has run: %v", err)
	}
	if err := os.Mkdir(filepath.Join(os.TempDir(), "ansible-operator"), 0o700); err != nil { // an older one that kept none
		t.Fatal(err)
	}
	for dir, id := range map[string]string{"ansible-operator-1": "a", "helm-operator": "b", "ansible-operators": "c"} {
		records := filepath.Join(os.TempDir(), dir, "records")
		if err := os.MkdirAll(records, 0o700); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf(`{"format":1,"id":%q,"state":"ended"}`+"\n", id)
		if err := os.WriteFile(filepath.Join(records, "runs"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := runner.Runs(t.Context(), runner.RunsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range report.Runs {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	if diff := cmp.Diff([]string{"a", "b"}, ids); diff != "" || len(report.Notes) != 2 {
		t.Errorf("runs of operators that are gone (-want +got):\n%s%v", diff, report.Notes)
	}
}
