package runner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// tellWhy is a play that puts into status what it was told about its run.
const tellWhy = `
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Tell why
      ansible.builtin.set_stats:
        data:
          why: "{{ chartbook_run.trigger }}: {{ chartbook_run.reason }}"
          paths: "{{ chartbook_run.changedPaths | join(' ') }}"
`

// toldWhy says that the last run, a good one, was told this.
func toldWhy(why, paths string) func(*unstructured.Unstructured) error {
	return func(obj *unstructured.Unstructured) error {
		if err := field(why, "status", "outputs", "why")(obj); err != nil {
			return err
		}
		return field(paths, "status", "outputs", "paths")(obj)
	}
}

// patchStatus writes status as another controller does.
func (o *operator) patchStatus(gvk schema.GroupVersionKind, name string, change func(*unstructured.Unstructured)) {
	o.t.Helper()
	fresh, err := o.get(o.t.Context(), gvk, name)
	if err != nil {
		o.t.Fatal(err)
	}
	edited := fresh.DeepCopy()
	change(edited)
	if err := o.client.Status().Patch(o.t.Context(), edited, client.MergeFrom(fresh)); err != nil {
		o.t.Fatal(err)
	}
}

// runsOf counts the runs of a resource that have ended.
func (o *operator) runsOf(name string) int {
	return o.log.count(`"run":`, `"outcome":`, fmt.Sprintf(`"name":%q`, name))
}

func label(key, value string) func(*unstructured.Unstructured) {
	return func(obj *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(obj.Object, value, "metadata", "labels", key)
	}
}

// A watch chooses what wakes (UP D8), and a playbook is told what did and what changed (UP E8).
func TestTriggerChoosesAndTells(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  trigger:\n    fields: [spec.size]\n    when: self.spec.size >= oldSelf.spec.size\n    labels: [tier]\n"),
		"play.yml":     tellWhy,
	})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"size": int64(3), "color": "red"})
	o.eventually(gvk, "thing", ready)

	o.edit(thing, set("blue", "spec", "color"))
	o.edit(thing, set(int64(1), "spec", "size"))
	o.edit(thing, label("zone", "a"))
	o.patchStatus(gvk, "thing", set("y", "status", "x"))
	o.edit(thing, set(int64(5), "spec", "size"))
	o.eventually(gvk, "thing", toldWhy("spec: spec.color and spec.size changed", "spec.color spec.size"))
	o.edit(thing, label("tier", "web"))
	o.eventually(gvk, "thing", toldWhy("metadata: metadata.labels.tier changed", "metadata.labels.tier"))
	o.edit(thing, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{"chartbook.dev/reconcile-requested-at": "now"})
	})
	o.eventually(gvk, "thing", toldWhy("request: the annotation chartbook.dev/reconcile-requested-at changed", ""))
	if n := o.runsOf("thing"); n != 4 {
		t.Errorf("%d runs, want 4: one for the creation and one for each of three changes that count\n%s", n, o.log.text())
	}
}

// A child that becomes ready runs its owner again, at once and without polling (UP D5), and then all is at rest (UP E3).
func TestChildStatusWakesOwner(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	part := gvk.GroupVersion().WithKind("Part")
	testkit.InstallCRD(t, testkit.Cluster(t), part)
	play := strings.NewReplacer("GROUP", gvk.Group).Replace(`
    - name: Keep the part
      kubernetes.core.k8s:
        definition:
          apiVersion: GROUP/v1
          kind: Part
          metadata: {name: "{{ ansible_operator_meta.name }}", namespace: "{{ ansible_operator_meta.namespace }}"}
          spec: {}
      register: part
    - name: Wait for the part
      ansible.builtin.set_stats:
        data: {chartbook: {outcome: waiting, reason: PartPending, message: the part is not done, requeueAfter: 1h}}
      when: part.result.status.phase | default('') != 'Done'
`)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  reconcilePeriod: 0s\n  trigger: {childStatus: [Part]}\n"),
		"play.yml":     tellWhy + strings.TrimPrefix(play, "\n"),
	})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{})
	waiting := func(obj *unstructured.Unstructured) error { return condition(obj, "Ready", "False", "PartPending") }
	o.eventually(gvk, "thing", waiting)

	o.patchStatus(part, "thing", set("Done", "status", "phase"))
	done := time.Now()
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		return testkit.HasCondition(obj, "Reconciling", "True")
	})
	t.Logf("the run began %s after the part was done", time.Since(done))
	o.eventually(gvk, "thing", ready)
	o.eventually(gvk, "thing", toldWhy("dependent: Part thing has another status", ""))

	// Somebody else makes a child of the thing.
	fresh, err := o.get(t.Context(), gvk, "thing")
	if err != nil {
		t.Fatal(err)
	}
	o.create(part, "extra", map[string]any{}, func(obj *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(obj.Object, []any{map[string]any{
			"apiVersion": thing.GetAPIVersion(), "kind": gvk.Kind, "name": "thing", "uid": string(fresh.GetUID()),
		}}, "metadata", "ownerReferences")
	})
	o.eventually(gvk, "thing", toldWhy("dependent: Part extra was created", ""))

	// A second resource goes the whole way, so whatever the first would still have set off has had its time.
	o.create(gvk, "other", map[string]any{})
	o.eventually(gvk, "other", waiting)
	o.patchStatus(part, "other", set("Done", "status", "phase"))
	o.eventually(gvk, "other", ready)
	if n := o.runsOf("thing"); n != 3 {
		t.Errorf("%d runs of one creation and two changes of children, want 3: runs must come to rest\n%s", n, o.log.text())
	}
	if n := o.runsOf("other"); n != 2 {
		t.Errorf("%d runs of one creation and one change of a child, want 2\n%s", n, o.log.text())
	}
}

// The key means the same for a chart.
func TestTriggerOfChart(t *testing.T) {
	t.Parallel()
	o, gvk := chartOperator(t, "  trigger: {fields: [spec.message]}\n")
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"message": "one"})
	o.eventually(gvk, "thing", ready)
	o.edit(thing, set(false, "spec", "flag"))
	// A second resource goes the whole way, so whatever the first would have set off has had its time.
	o.create(gvk, "other", map[string]any{})
	o.eventually(gvk, "other", ready)
	o.wantRevisions("thing", 1)
	o.edit(thing, set("two", "spec", "message"))
	child := o.eventually(configMaps, "thing", message("two"))
	if flag, _, _ := unstructured.NestedString(child.Object, "data", "flag"); flag != "off" {
		t.Errorf("the run did not take the newest spec: flag is %q", flag)
	}
	o.eventually(gvk, "thing", ready)
	o.wantRevisions("thing", 2)
}
