package runner_test

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

var jobKind = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}

// hookChart is a chart with a hook at each point that a resource names. No hook ends by itself: the test deletes it.
var hookChart = map[string]string{
	"chart/Chart.yaml":            "apiVersion: v2\nname: thing\nversion: 0.1.0\n",
	"chart/templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {message: '{{ .Values.message }}'}\n",
	"chart/templates/hook.yaml": `{{- range .Values.hooks }}
---
apiVersion: batch/v1
kind: Job
metadata: {name: {{ $.Release.Name }}-{{ . }}, annotations: {helm.sh/hook: {{ . }}}}
spec:
  template: {spec: {restartPolicy: Never, nodeSelector: {there: is-no-such-node}, containers: [{name: main, image: example.com/job:1}]}}
{{- end }}
`,
}

// hook waits for a hook's Job that is not the given one, and returns it.
func (o *operator) hook(name string, not types.UID) *unstructured.Unstructured {
	o.t.Helper()
	return o.eventually(jobKind, name, func(job *unstructured.Unstructured) error {
		if job.GetUID() == not || job.GetDeletionTimestamp() != nil {
			return fmt.Errorf("Job %s is still the old one", name)
		}
		return nil
	})
}

// history returns the statuses of a release's revisions, oldest first.
func (o *operator) history(release string) []string {
	o.t.Helper()
	list := &corev1.SecretList{}
	if err := o.client.List(o.t.Context(), list, client.InNamespace(o.namespace), client.MatchingLabels{"owner": "helm", "name": release}); err != nil {
		o.t.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Secret) int {
		first, _ := strconv.Atoi(a.Labels["version"])
		second, _ := strconv.Atoi(b.Labels["version"])
		return first - second
	})
	var out []string
	for _, secret := range list.Items {
		out = append(out, secret.Labels["status"])
	}
	return out
}

// Nothing that the killed operator has left stands in the way of the next, which needs one run.
func TestKilledInTheMiddleOfARelease(t *testing.T) {
	t.Parallel()
	for hook, tt := range map[string]struct {
		why     string
		upgrade bool
		delete  bool
		want    []string
	}{
		"pre-install":  {"before anything was made", false, false, []string{"failed", "deployed"}},
		"post-install": {"when all was made", false, false, []string{"failed", "deployed"}},
		"pre-upgrade":  {"before anything was changed", true, false, []string{"superseded", "failed", "deployed"}},
		"post-upgrade": {"when all was changed", true, false, []string{"superseded", "failed", "deployed"}},
		"pre-delete":   {"before anything was deleted", false, true, nil},
		"post-delete":  {"when all was deleted", false, true, nil},
	} {
		t.Run(hook, func(t *testing.T) {
			t.Parallel()
			o, gvk := withChart(t, hookChart, "  reconcilePeriod: 0s\n")
			killed := o.spawn()
			values := func(message string, hooks ...any) map[string]any {
				return map[string]any{"message": message, "hooks": hooks}
			}
			var thing *unstructured.Unstructured
			switch {
			case tt.upgrade:
				thing = o.create(gvk, "thing", values("one"))
				o.eventually(gvk, "thing", ready)
				o.edit(thing, func(obj *unstructured.Unstructured) { obj.Object["spec"] = values("two", hook) })
			default:
				thing = o.create(gvk, "thing", values("two", hook))
			}
			if tt.delete {
				o.eventually(gvk, "thing", ready)
				o.delete(thing)
			}
			left := o.hook("thing-"+hook, "")
			killed()
			o.start()
			again := o.hook("thing-"+hook, left.GetUID())
			o.delete(again) // a hook that is gone has ended
			if tt.delete {
				o.gone(gvk, "thing")
				o.gone(configMaps, "thing")
			} else {
				o.eventually(gvk, "thing", ready)
				o.eventually(configMaps, "thing", message("two"))
			}
			if diff := cmp.Diff(tt.want, o.history("thing")); diff != "" {
				t.Errorf("killed %s: history (-want +got):\n%s", tt.why, diff)
			}
			if n := o.log.count(`"outcome":`, `"name":"thing"`); n != 1 {
				t.Errorf("killed %s: recovered in %d runs", tt.why, n)
			}
		})
	}
}

// withChart prepares an operator for a chart.
func withChart(t *testing.T, files map[string]string, keys string) (*operator, schema.GroupVersionKind) {
	t.Helper()
	gvk := kindFor(t)
	all := map[string]string{"watches.yaml": fmt.Sprintf("- group: %s\n  version: v1\n  kind: Thing\n  chart: DIR/chart\n%s", gvk.Group, keys)}
	maps.Copy(all, files)
	return setup(t, testkit.Cluster(t), all), gvk
}

// What others do to a release is noticed at once, also where no object of it changes.
func TestReleaseThatWasChangedFromOutside(t *testing.T) {
	t.Parallel()
	o, gvk := withChart(t, map[string]string{
		"chart/Chart.yaml":            hookChart["chart/Chart.yaml"],
		"chart/templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {message: '{{ .Values.message }}'}\n",
	}, "  reconcilePeriod: 0s\n")
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"message": "one"})
	o.eventually(gvk, "thing", ready)
	o.edit(thing, set("two", "spec", "message"))
	o.eventually(configMaps, "thing", message("two"))
	o.eventually(gvk, "thing", ready)

	o.helm("rollback", "thing", "1")
	o.eventually(configMaps, "thing", message("two"))
	o.eventuallyHistory("thing", "superseded", "superseded", "superseded", "deployed")

	record := &unstructured.Unstructured{}
	record.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	record.SetNamespace(o.namespace)
	for _, version := range []int{1, 2, 3, 4} {
		record.SetName(fmt.Sprintf("sh.helm.release.v1.thing.v%d", version))
		o.delete(record)
	}
	o.eventuallyHistory("thing", "deployed")
	testkit.Eventually(t, soon, func(context.Context) error {
		if n := o.log.count(`"msg":"Installed release"`, `"name":"thing"`); n != 2 {
			return fmt.Errorf("installed %d times", n)
		}
		return nil
	})
	// Nothing of this was taken for what the operator does itself.
	before := o.log.count(`"outcome":`, `"name":"thing"`)
	o.edit(thing, set("three", "spec", "message"))
	o.eventually(configMaps, "thing", message("three"))
	o.eventually(gvk, "thing", ready)
	if n := o.log.count(`"outcome":`, `"name":"thing"`) - before; n != 1 {
		t.Errorf("one change led to %d runs", n)
	}
}

func (o *operator) eventuallyHistory(release string, want ...string) {
	o.t.Helper()
	testkit.Eventually(o.t, soon, func(context.Context) error {
		if got := o.history(release); !slices.Equal(got, want) { //nolint:contextcheck // it has the test's
			return fmt.Errorf("history is %v, want %v", got, want)
		}
		return nil
	})
}

// helm runs the stock command.
func (o *operator) helm(args ...string) {
	o.t.Helper()
	args = append(args, "--namespace", o.namespace, "--kubeconfig", testkit.Kubeconfig(o.t))
	if out, err := exec.Command(testkit.Helm(o.t), args...).CombinedOutput(); err != nil {
		o.t.Fatalf("helm %v: %v\n%s", args, err, out)
	}
}
