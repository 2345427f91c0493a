package runner_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// TestNoWriteOfARunWakesIt has a run change its child in every way there is, as modules, kubectl and helm do (E3 of the
// users' complaints). Whatever of it had woken the resource would come before the edit by hand.
func TestNoWriteOfARunWakesIt(t *testing.T) {
	t.Parallel()
	b := newBackstage(t, kindFor(t))
	owner := b.owner(t, "owner")
	type maps = typedcorev1.ConfigMapInterface
	child := func(value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{"app": "x"}}, Data: map[string]string{"k": value},
		}
	}
	create := func(m maps) error {
		_, err := m.Create(t.Context(), child("made"), metav1.CreateOptions{})
		return err
	}
	steps := []struct {
		how string
		do  func(maps) error
	}{
		{"create", create},
		{"update", func(m maps) error {
			got, err := m.Get(t.Context(), "c", metav1.GetOptions{})
			if err != nil {
				return err
			}
			got.Data["k"] = "put"
			_, err = m.Update(t.Context(), got, metav1.UpdateOptions{})
			return err
		}},
		{"merge patch", func(m maps) error {
			_, err := m.Patch(t.Context(), "c", types.MergePatchType, []byte(`{"data":{"k":"merged"}}`), metav1.PatchOptions{})
			return err
		}},
		{"strategic patch", func(m maps) error {
			_, err := m.Patch(t.Context(), "c", types.StrategicMergePatchType, []byte(`{"data":{"k":"patched"}}`), metav1.PatchOptions{})
			return err
		}},
		{"JSON patch", func(m maps) error {
			_, err := m.Patch(t.Context(), "c", types.JSONPatchType, []byte(`[{"op":"replace","path":"/data/k","value":"json"}]`), metav1.PatchOptions{})
			return err
		}},
		{"server-side apply", func(m maps) error {
			config := applycorev1.ConfigMap("c", b.namespace).WithData(map[string]string{"k": "applied"}).WithLabels(map[string]string{"app": "x"})
			_, err := m.Apply(t.Context(), config, metav1.ApplyOptions{FieldManager: "play", Force: true})
			return err
		}},
		{"delete", func(m maps) error { return m.Delete(t.Context(), "c", metav1.DeleteOptions{}) }},
		{"create again", create},
		{"delete by selector", func(m maps) error {
			return m.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=x"})
		}},
		{"create once more", create},
	}
	for _, format := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		// Once in one run for all, then in a run for each step.
		_, err := b.run(owner, format, func(clients kubernetes.Interface) error {
			for _, step := range steps {
				if err := step.do(clients.CoreV1().ConfigMaps(b.namespace)); err != nil {
					return fmt.Errorf("%s: %w", step.how, err)
				}
			}
			return clients.CoreV1().ConfigMaps(b.namespace).Delete(t.Context(), "c", metav1.DeleteOptions{})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			report, err := b.run(owner, format, func(clients kubernetes.Interface) error {
				return step.do(clients.CoreV1().ConfigMaps(b.namespace))
			})
			if err != nil {
				t.Fatalf("%s: %v", step.how, err)
			}
			if len(report.Writes) == 0 {
				t.Errorf("%s in %s is not noted as a write", step.how, format)
			}
		}
		b.edit(t, "c")
		b.expect(t, "owner: c edited")
		if err := testkit.Client(t, testkit.Cluster(t)).Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "c"}}); err != nil {
			t.Fatal(err)
		}
		b.expect(t, "owner: c deleted")
	}
	b.expectNothingElse(t)
}
