package runner_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// bench opens a workbench over the operator's files.
func (o *operator) bench() *runner.Workbench {
	o.t.Helper()
	options := runner.DefaultOptions(runner.Chartbook)
	options.WatchesFile, options.RESTConfig = o.dir+"/watches.yaml", rest.CopyConfig(o.config)
	options.Ansible.PrivateDir = o.t.TempDir()
	b, err := runner.OpenWorkbench(options)
	if err != nil {
		o.t.Fatal(err)
	}
	return b
}

func (o *operator) render(obj *unstructured.Unstructured, output string) string {
	o.t.Helper()
	text, err := o.bench().Render(o.t.Context(), obj, runner.RenderOptions{Output: output, Namespace: o.namespace})
	if err != nil {
		o.t.Fatal(err)
	}
	return text
}

func TestRenderAndExecOfAChart(t *testing.T) {
	t.Parallel()
	o, gvk := chartOperator(t, "  valuesFrom:\n    - secretKeyRef: {name: settings, key: message}\n      targetPath: message\n")
	o.create(secrets, "settings", nil, set(map[string]any{"message": "aHVudGVyMi1hbmQtbW9yZQ=="}, "data"))
	thing := testkit.Object(gvk, "", "thing", map[string]any{"flag": false})
	if text := o.render(thing, "values"); !strings.Contains(text, "flag: false") || !strings.Contains(text, "message: [redacted]") {
		t.Errorf("the values are:\n%s", text)
	}
	if text := o.render(thing, "manifests"); !strings.Contains(text, "flag: 'off'") || strings.Contains(text, "hunter2") {
		t.Errorf("the manifests are:\n%s", text)
	}
	if text := o.render(thing, "plan"); !strings.HasPrefix(text, "install release thing in namespace "+o.namespace+", revision 1") || !strings.Contains(text, "create    ConfigMap/"+o.namespace+"/thing\n") {
		t.Errorf("the plan is:\n%s", text)
	}

	live := o.create(gvk, "thing", map[string]any{"flag": false})
	var steps []runner.Step
	ending, err := o.bench().Exec(t.Context(), live, runner.ExecOptions{Progress: func(s runner.Step) { steps = append(steps, s) }})
	if err != nil || !ending.OK || !ending.Owned || len(steps) == 0 {
		t.Fatalf("exec came to %+v in %d steps: %v", ending, len(steps), err)
	}
	child := o.eventually(configMaps, "thing", message("hunter2-and-more"))
	if refs := child.GetOwnerReferences(); len(refs) != 1 || refs[0].UID != live.GetUID() {
		t.Errorf("the child has owners %v", refs)
	}
	if text := o.render(thing, "plan"); !strings.HasPrefix(text, "none release thing") {
		t.Errorf("the plan is:\n%s", text)
	}
	thing.Object["spec"] = map[string]any{"flag": true}
	if text := o.render(thing, "diff"); !strings.Contains(text, "-  flag: \"off\"\n+  flag: \"on\"\n") || strings.Contains(text, "hunter2") {
		t.Errorf("the difference is:\n%s", text)
	}
	ending, err = o.bench().Exec(t.Context(), live, runner.ExecOptions{Finalize: true})
	if err != nil || !ending.OK {
		t.Fatalf("cleaning up came to %+v: %v", ending, err)
	}
	o.gone(configMaps, "thing")
}

// What has an owner that is not there would be collected at once.
func TestExecOfAResourceThatIsNotThere(t *testing.T) {
	t.Parallel()
	o, gvk := chartOperator(t, "")
	ending, err := o.bench().Exec(t.Context(), testkit.Object(gvk, o.namespace, "thing", map[string]any{}), runner.ExecOptions{})
	if err != nil || !ending.OK || ending.Owned {
		t.Fatalf("exec came to %+v: %v", ending, err)
	}
	if child := o.eventually(configMaps, "thing", message("default")); len(child.GetOwnerReferences()) != 0 {
		t.Errorf("the child has owners %v", child.GetOwnerReferences())
	}
}

func TestExecOfAPlaybook(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": "- {group: " + gvk.Group + ", version: v1, kind: Thing, playbook: DIR/play.yml, markUnsafe: true}\n",
		"play.yml": `
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Keep the ConfigMap
      kubernetes.core.k8s:
        definition: {apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ ansible_operator_meta.name }}", namespace: "{{ ansible_operator_meta.namespace }}"}, data: {message: "{{ message }}"}}
    - name: Fail if asked to
      ansible.builtin.fail: {msg: as asked}
      when: fail | default(false)
`,
	})
	live := o.create(gvk, "thing", map[string]any{"message": "by hand"})
	if text := o.render(live, "vars"); !strings.Contains(text, "message:") || !strings.Contains(text, "by hand") {
		t.Errorf("the variables are:\n%s", text)
	}
	tasks := map[string]bool{}
	ending, err := o.bench().Exec(t.Context(), live, runner.ExecOptions{Progress: func(s runner.Step) { tasks[s.Kind+" "+s.Task] = true }})
	if err != nil || !ending.OK || !tasks["ok Keep the ConfigMap"] {
		t.Fatalf("exec came to %+v with %v: %v", ending, tasks, err)
	}
	if child := o.eventually(configMaps, "thing", message("by hand")); len(child.GetOwnerReferences()) != 1 {
		t.Errorf("the child has owners %v", child.GetOwnerReferences())
	}
	_ = unstructured.SetNestedField(live.Object, true, "spec", "fail")
	ending, err = o.bench().Exec(t.Context(), live, runner.ExecOptions{})
	if err != nil || ending.OK || !strings.Contains(ending.Message, "as asked") {
		t.Errorf("a play that fails came to %+v: %v", ending, err)
	}
}

func TestWorkbenchRefuses(t *testing.T) {
	t.Parallel()
	o, gvk := chartOperator(t, "  selector: {matchLabels: {yes: \"true\"}}\n")
	for why, obj := range map[string]*unstructured.Unstructured{
		"the kind":   testkit.Object(gvk.GroupVersion().WithKind("Other"), "", "thing", nil),
		"the labels": testkit.Object(gvk, "", "thing", nil),
	} {
		_, err := o.bench().Render(t.Context(), obj, runner.RenderOptions{Output: "values"})
		if _, invalid := errors.AsType[*runner.InvalidError](err); !invalid {
			t.Errorf("%s gives %v", why, err)
		}
	}
}

// A chart can be run for a cluster-scoped kind, and its children are put right at once.
func TestChartOfAClusterScopedKind(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t, testkit.ClusterScoped)
	files := map[string]string{"watches.yaml": "- {group: " + gvk.Group + ", version: v1, kind: Thing, chart: DIR/chart, releaseNamespace: NAMESPACE, reconcilePeriod: 1h}\n"}
	maps.Copy(files, chart)
	o := setup(t, testkit.Cluster(t), files)
	o.start()
	name := o.namespace // nobody else's, among what has no namespace
	thing := testkit.Object(gvk, "", name, map[string]any{"message": "everywhere"})
	if err := o.client.Create(t.Context(), thing); err != nil {
		t.Fatal(err)
	}
	child := o.eventually(configMaps, name, message("everywhere"))
	if refs := child.GetOwnerReferences(); len(refs) != 1 || refs[0].UID != thing.GetUID() {
		t.Errorf("the child has owners %v", refs)
	}
	o.untilNoticed(name, func(n int) { o.edit(child, set(fmt.Sprint("by hand ", n), "data", "message")) })
	o.eventually(configMaps, name, message("everywhere"))
	o.delete(thing)
	o.gone(configMaps, name)
	o.wantRevisions(name, 0)
}
