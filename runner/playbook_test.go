package runner_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

var configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// keepConfigMap is a playbook that keeps a ConfigMap of the resource's name with spec.message in it.
const keepConfigMap = `
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Keep the ConfigMap
      kubernetes.core.k8s:
        definition:
          apiVersion: v1
          kind: ConfigMap
          metadata:
            name: "{{ ansible_operator_meta.name }}"
            namespace: "{{ ansible_operator_meta.namespace }}"
          data:
            message: "{{ message }}"
`

// watchesFor is a watches file with one playbook and further keys.
func watchesFor(gvk schema.GroupVersionKind, keys string) string {
	return fmt.Sprintf("- group: %s\n  version: %s\n  kind: %s\n  playbook: DIR/play.yml\n  markUnsafe: true\n%s",
		gvk.Group, gvk.Version, gvk.Kind, keys)
}

// kindFor installs a CRD of the test's own and returns its kind.
func kindFor(t *testing.T, options ...testkit.CRDOption) schema.GroupVersionKind {
	t.Helper()
	gvk := schema.GroupVersionKind{Group: ownGroup(t), Version: "v1", Kind: "Thing"}
	testkit.InstallCRD(t, testkit.Cluster(t), gvk, options...)
	return gvk
}

func message(want string) func(*unstructured.Unstructured) error {
	return func(obj *unstructured.Unstructured) error {
		got, _, _ := unstructured.NestedString(obj.Object, "data", "message")
		if got != want {
			return fmt.Errorf("message is %q, want %q", got, want)
		}
		return nil
	}
}

// Covers AO 9.2 deletion, AO 9.3 Successful.
func TestPlaybookFollowsItsResource(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": keepConfigMap})
	o.start()
	o.create(gvk, "thing", map[string]any{"message": "one {{ 1 + 1 }}"})
	thing := o.eventually(gvk, "thing", ready)
	o.eventually(configMaps, "thing", message("one {{ 1 + 1 }}"))
	for conditionType, want := range map[string]string{"Running": "True", "Successful": "True", "Failure": "False"} {
		if err := testkit.HasCondition(thing, conditionType, want); err != nil {
			t.Errorf("the old tool's conditions: %v", err)
		}
	}
	child, err := o.get(t.Context(), configMaps, "thing")
	if err != nil {
		t.Fatal(err)
	}
	if owners := child.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != thing.GetUID() || owners[0].Kind != gvk.Kind {
		t.Errorf("owner references are %v, want one to UID %s", owners, thing.GetUID())
	}

	o.edit(thing, set("two", "spec", "message"))
	o.eventually(configMaps, "thing", message("two"))
	o.eventually(gvk, "thing", ready)

	o.edit(child, set("by hand", "data", "message"))
	o.eventually(configMaps, "thing", message("two"))
	o.delete(child)
	o.eventually(configMaps, "thing", message("two"))

	o.delete(thing)
	o.gone(gvk, "thing")
	o.gone(configMaps, "thing")
}

// Covers UP E3.
func TestOneRunPerChange(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": keepConfigMap})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"message": "one"})
	o.eventually(gvk, "thing", ready)
	o.edit(thing, func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"message": "two"} })
	o.eventually(configMaps, "thing", message("two"))
	o.eventually(gvk, "thing", ready)
	// A second resource goes the whole way, so whatever the first would still have set off has had its time.
	o.create(gvk, "other", map[string]any{"message": "x"})
	o.eventually(gvk, "other", ready)
	if n := o.log.count(`"run":`, `"outcome":`, `"name":"thing"`); n != 2 {
		t.Errorf("%d runs for one resource and one change of it, want 2: the run's own writes must not wake it\n%s", n, o.log.text())
	}
}

// Covers AO 10.3 no. 1.
func TestIdlePeriodsWriteNothing(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  reconcilePeriod: 100ms\n"),
		"play.yml":     "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - ansible.builtin.set_stats: {data: {size: 3}}\n",
	})
	o.start()
	o.create(gvk, "thing", map[string]any{})
	first := o.eventually(gvk, "thing", ready)
	before := o.log.count(`"trigger":"period"`, `"outcome":`)
	testkit.Eventually(t, 3*time.Minute, func(context.Context) error {
		if n := o.log.count(`"trigger":"period"`, `"outcome":`) - before; n < 10 {
			return fmt.Errorf("%d idle runs so far", n)
		}
		return nil
	})
	last, err := o.get(t.Context(), gvk, "thing")
	if err != nil {
		t.Fatal(err)
	}
	if first.GetResourceVersion() != last.GetResourceVersion() {
		t.Errorf("the resource was written in ten idle runs:\n%v\n%v", first.Object["status"], last.Object["status"])
	}
	if size, _, _ := unstructured.NestedInt64(last.Object, "status", "outputs", "size"); size != 3 {
		t.Errorf("status.outputs is %v, want what set_stats said", last.Object["status"])
	}
}

// Covers UP F1, F3.
func TestOthersStatusSurvives(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": keepConfigMap})
	thing := o.create(gvk, "thing", map[string]any{"message": "one"})
	foreign := map[string]any{"type": "Audited", "status": "True", "auditor": "someone", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}
	edited := thing.DeepCopy()
	edited.Object["status"] = map[string]any{"custom": "hello world", "conditions": []any{foreign}}
	if err := o.client.Status().Patch(t.Context(), edited, client.MergeFrom(thing)); err != nil {
		t.Fatal(err)
	}
	o.start()
	got := o.eventually(gvk, "thing", ready)
	if custom, _, _ := unstructured.NestedString(got.Object, "status", "custom"); custom != "hello world" {
		t.Errorf("status.custom is %q after a run", custom)
	}
	audited, err := testkit.Condition(got, "Audited")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range foreign {
		if audited[key] != want {
			t.Errorf("%s of someone else's condition is %v, want %v", key, audited[key], want)
		}
	}
}

// Covers UP F8.
func TestFailureIsTold(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, ""),
		"play.yml":     "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - name: Look for trouble\n      ansible.builtin.fail: {msg: found it}\n",
	})
	o.start()
	o.create(gvk, "thing", map[string]any{})
	got := o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		return condition(obj, "Ready", "False", "TaskFailed")
	})
	c, err := testkit.Condition(got, "Failure")
	if err != nil {
		t.Fatal(err)
	}
	if c["status"] != "True" || c["reason"] != "Failed" {
		t.Errorf("the old tool's condition is %v", c)
	}
	o.eventuallyEvent("thing", "Warning", "Failed", "found it")
}
