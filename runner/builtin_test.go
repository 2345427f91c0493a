package runner_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// The record of a built-in kind is an annotation, and Kubernetes takes a Deployment's annotations for part of its spec.
func TestRecordOnADeploymentDoesNotWakeIt(t *testing.T) {
	t.Parallel()
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": "- group: apps\n  version: v1\n  kind: Deployment\n  playbook: DIR/play.yml\n  markUnsafe: true\n  selector:\n    matchLabels: {app-type: recorded}\n",
		"play.yml":     idlePlay,
	})
	o.start()
	recorded := func(obj *unstructured.Unstructured) error {
		if record := obj.GetAnnotations()["chartbook.dev/status"]; !strings.Contains(record, `"Succeeded"`) {
			return fmt.Errorf("the record is %q", record)
		}
		return nil
	}
	for _, name := range []string{"first", "second"} { // the second gives what the first set off the time to show
		deployment := testkit.ReadYAML(t, filepath.Join(testkit.RepoRoot(), "deploy", "samples", "apps_v1_deployment.yaml"))
		deployment.SetNamespace(o.namespace)
		deployment.SetName(name)
		deployment.SetLabels(map[string]string{"app-type": "recorded"})
		if err := o.client.Create(t.Context(), deployment); err != nil {
			t.Fatal(err)
		}
		o.eventually(deployments, name, recorded)
	}
	if n := o.log.count(`"name":"first"`, `"outcome":`); n != 1 {
		t.Errorf("%d runs for a Deployment that nobody changed\n%s", n, o.log.text())
	}
}
