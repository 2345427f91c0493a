package runner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// TestExecutorOfAWatch: a watch that asks for ansible-runner gets it, its plays reach the API server, and what they print is
// in the log with the run's id where that is wanted. What clients have found out about the API server is kept for all
// resources in one file, and goes with the operator (AO 10.3, 10.4).
func TestExecutorOfAWatch(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  executor: runner\n"), "play.yml": keepConfigMap,
	})
	var private string
	o.start(func(options *runner.Options) {
		options.Ansible.DebugLogs = true
		private = options.Ansible.PrivateDir
	})
	for _, name := range []string{"one", "two"} {
		o.create(gvk, name, map[string]any{"message": name})
		o.eventually(gvk, name, ready)
		o.eventually(configMaps, name, message(name))
	}
	// The callback of that name is ansible-runner's; nothing else brings it.
	for _, entry := range []string{"awx_display", "PLAY RECAP"} {
		if !strings.Contains(o.log.text(), entry) {
			t.Errorf("%q is not in the log", entry)
		}
	}
	if caches, _ := filepath.Glob(filepath.Join(private, "tmp", "k8srcp-*.json")); len(caches) != 1 {
		t.Errorf("the discovery caches of two resources are %v", caches)
	}
	o.stop()
	if _, err := os.Stat(filepath.Join(private, "tmp")); !os.IsNotExist(err) {
		t.Errorf("temporary files are left: %v", err)
	}
}

// TestWarmRunThatCannotBe: each run takes the other way, says so and is counted; the log says why once.
func TestWarmRunThatCannotBe(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  executor: warm\n  env: {LC_ALL: C}\n"), "play.yml": idlePlay + "  tasks: []\n",
	})
	o.start()
	names := []string{"one", "two"}
	for _, name := range names {
		o.create(gvk, name, nil)
	}
	testkit.Eventually(t, soon, func(context.Context) error {
		if n := o.counted("chartbook_ansible_runs_total", "direct", "locale"); n < len(names) {
			return fmt.Errorf("%d runs are counted as direct because of the locale", n)
		}
		return nil
	})
	if n := o.log.count("A run could not be warm and is direct", `"reason":"locale"`); n != 1 {
		t.Errorf("why runs are not warm is told %d times", n)
	}
	if n := o.counted("chartbook_ansible_runs_total", "warm", ""); n != 0 {
		t.Errorf("%d runs are counted as warm", n)
	}
}

// counted returns a counter with these labels, by the order of their names.
func (o *operator) counted(name string, labels ...string) int {
	o.t.Helper()
	families, err := o.metrics.Gather()
	if err != nil {
		o.t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var values []string
			for _, label := range metric.GetLabel() {
				values = append(values, label.GetValue())
			}
			if family.GetName() == name && slices.Equal(values, labels) {
				return int(metric.GetCounter().GetValue())
			}
		}
	}
	return 0
}
