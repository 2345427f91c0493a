package runner_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

const finalizerKeys = `  finalizer:
    name: finalizers.example.com/cleanup
    playbook: DIR/cleanup.yml
    vars:
      sentinel: from the finalizer
`

// touch is a playbook that writes a text to a file.
func touch(path, text string) string {
	return fmt.Sprintf("- hosts: localhost\n  gather_facts: false\n  tasks:\n    - ansible.builtin.copy: {dest: %q, content: %q}\n", path, text)
}

// Covers AO 9.2 deletion, AO 9.3 deletion.
func TestFinalizerIsThereBeforeTheFirstRunAndRunsAtDeletion(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, finalizerKeys),
		// The run itself looks whether the resource that it is for has the finalizer.
		"play.yml": "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - ansible.builtin.assert:\n        that: \"'finalizers.example.com/cleanup' in vars['_" +
			underscored(gvk.Group) + "_thing'].metadata.finalizers\"\n",
		"cleanup.yml": touch("DIR/cleaned", "{{ ansible_operator_meta.name }} {{ sentinel }}"),
	})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{})
	o.eventually(gvk, "thing", ready)
	o.delete(thing)
	o.gone(gvk, "thing")
	text, err := os.ReadFile(filepath.Join(o.dir, "cleaned"))
	if err != nil || string(text) != "thing from the finalizer" {
		t.Errorf("the cleaning run left %q, %v", text, err)
	}
}

// Covers UP G2.
func TestFailingFinalizerHoldsTheResource(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, finalizerKeys),
		"play.yml":     "- hosts: localhost\n  gather_facts: false\n",
		"cleanup.yml": "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - name: Remove the bucket\n      ansible.builtin.stat: {path: DIR/bucket-is-free}\n      register: bucket\n" +
			"      failed_when: not bucket.stat.exists\n",
	})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{})
	o.eventually(gvk, "thing", ready)
	o.delete(thing)
	held := o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		c, err := testkit.Condition(obj, "Ready")
		if err == nil && (c["status"] != "False" || c["reason"] != "TaskFailed") {
			err = fmt.Errorf("Ready is %v", c)
		}
		return err
	})
	if !slices.Contains(held.GetFinalizers(), "finalizers.example.com/cleanup") {
		t.Errorf("the finalizer is gone after a failed cleaning run: %v", held.GetFinalizers())
	}
	o.eventuallyEvent("thing", "Warning", "FinalizerFailed", "Remove the bucket")
	o.write("bucket-is-free", "yes")
	o.gone(gvk, "thing")
}

// Covers AO 9.3 FinalizerConcurrencyTest, UP G1.
func TestDeletionDuringARunIsCleanedUpAfter(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, finalizerKeys),
		"play.yml": touch("DIR/started", "yes") +
			"    - ansible.builtin.wait_for: {path: DIR/go, timeout: 60}\n",
		"cleanup.yml": touch("DIR/cleaned", "yes"),
	})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{})
	o.eventually(gvk, "thing", func(*unstructured.Unstructured) error {
		_, err := os.Stat(filepath.Join(o.dir, "started"))
		return err
	})
	o.delete(thing)
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		if obj.GetDeletionTimestamp() == nil {
			return errors.New("not being deleted")
		}
		return nil
	})
	if _, err := os.Stat(filepath.Join(o.dir, "cleaned")); err == nil {
		t.Error("the cleaning run did not wait for the run in progress")
	}
	o.write("go", "yes")
	o.gone(gvk, "thing")
	if _, err := os.Stat(filepath.Join(o.dir, "cleaned")); err != nil {
		t.Errorf("the cleaning run was left out: %v", err)
	}
}

func TestRefusedSpecDoesNotHoldADeletedResource(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, finalizerKeys),
		"play.yml":     "- hosts: localhost\n  gather_facts: false\n",
		"cleanup.yml":  touch("DIR/cleaned", "yes"),
	})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"size": int64(1)})
	o.eventually(gvk, "thing", ready)
	o.edit(thing, func(obj *unstructured.Unstructured) {
		obj.Object["spec"] = map[string]any{"dataDir": "/a", "data_dir": "/b"}
	})
	refused := o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		return condition(obj, "Ready", "False", "VariableClash")
	})
	if err := testkit.HasCondition(refused, "Stalled", "True"); err != nil {
		t.Error(err)
	}
	o.delete(thing)
	o.gone(gvk, "thing")
}

// What is refused outside of the spec, and a spec that is none, hold a resource no more than the spec does.
// Covers AO 10.1 no. 9.
func TestRefusedResourcesGo(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{
			Type: "object", XPreserveUnknownFields: new(true),
		}
	})
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, finalizerKeys),
		"play.yml":     "- hosts: localhost\n  gather_facts: false\n",
		"cleanup.yml":  touch("DIR/cleaned", "yes"),
	})
	o.start()
	for name, tt := range map[string]struct {
		key, reason string
		value       any
	}{
		"marker": {"extra", "ReservedVariable", map[string]any{"__ansible_vault": "x"}},
		"text":   {"spec", "InvalidSpec", "hello"},
		"list":   {"spec", "InvalidSpec", []any{int64(1)}},
	} {
		thing := o.create(gvk, name, map[string]any{"size": int64(1)})
		o.eventually(gvk, name, ready)
		o.edit(thing, func(obj *unstructured.Unstructured) { obj.Object[tt.key] = tt.value })
		o.eventually(gvk, name, func(obj *unstructured.Unstructured) error { return condition(obj, "Stalled", "True", tt.reason) })
		o.delete(thing)
		o.gone(gvk, name)
	}
}

func TestLeavingTheSelectorEndsInAStatus(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  selector: {matchLabels: {run: 'yes'}}\n"+finalizerKeys),
		"play.yml":     "- hosts: localhost\n  gather_facts: false\n",
		"cleanup.yml":  touch("DIR/cleaned", "yes"),
	})
	o.start()
	thing := o.create(gvk, "thing", nil, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"run": "yes"}) })
	o.eventually(gvk, "thing", ready)
	o.edit(thing, func(obj *unstructured.Unstructured) { obj.SetLabels(nil) })
	left := o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		return condition(obj, "Ready", "False", "Released")
	})
	for _, kind := range []string{"Reconciling", "Stalled"} {
		if c, err := testkit.Condition(left, kind); err == nil {
			t.Errorf("condition %s is still there: %v", kind, c)
		}
	}
	if err := testkit.HasCondition(left, "Running", "True"); err == nil {
		t.Error("the old condition says that a run is in progress")
	}
	o.edit(thing, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"run": "yes"}) })
	o.eventually(gvk, "thing", ready)
}

// Covers UP G2.
func TestSkipFinalizerLetsAStuckResourceGo(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, finalizerKeys),
		"play.yml":     "- hosts: localhost\n  gather_facts: false\n",
		"cleanup.yml":  "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - ansible.builtin.fail: {msg: never}\n",
	})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{})
	o.eventually(gvk, "thing", ready)
	o.delete(thing)
	o.eventuallyEvent("thing", "Warning", "FinalizerFailed", "never")
	o.edit(thing, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{"chartbook.dev/skip-finalizer": "true"})
	})
	o.gone(gvk, "thing")
}

// underscored is a group as it appears in the name of a variable.
func underscored(group string) string {
	out := []rune(group)
	for i, r := range out {
		if r == '.' || r == '-' {
			out[i] = '_'
		}
	}
	return string(out)
}
