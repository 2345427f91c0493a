package runner_test

import (
	"context"
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// What the API server says reaches the status as it was said: kubernetes.core prints it as Python prints bytes, and the
// message was cut at the first quoted name.
func TestAnswersOfTheAPIServerAreReadable(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, ""),
		"play.yml": idlePlay + `  tasks:
    - kubernetes.core.k8s:
        definition:
          apiVersion: v1
          kind: "{{ what }}"
          metadata: {name: "{{ ansible_operator_meta.name }}", namespace: "{{ ansible_operator_meta.namespace }}"}
`,
	})
	o.limitSecrets()
	o.denyConfigMaps(gvk.Group)
	o.start()
	thing := o.create(gvk, "many", map[string]any{"what": "Secret"})
	o.failsWith(thing, "TaskFailed", `secrets "many" is forbidden: exceeded quota: few, requested: count/secrets=1, used: count/secrets=0, limited: count/secrets=0`)
	thing = o.create(gvk, "denied", map[string]any{"what": "ConfigMap"})
	o.failsWith(thing, "TaskFailed", `denied request: it's "größer" than allowed`)
}

// limitSecrets makes a quota that is full, and waits until it holds.
func (o *operator) limitSecrets() {
	o.t.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "few", Namespace: o.namespace},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("0")}},
	}
	o.make(quota)
	o.untilRefused(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: o.namespace}})
}

// denyConfigMaps makes an admission policy for the namespace, and waits until it holds.
func (o *operator) denyConfigMaps(group string) {
	o.t.Helper()
	name := "deny." + group
	here := &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: o.namespace}}}
	o.make(&admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: "false", Message: `it's "größer" than allowed`}},
		},
	})
	o.make(&admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, MatchResources: here, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	})
	o.untilRefused(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: o.namespace}})
}

// make creates an object that goes when the test ends.
func (o *operator) make(obj client.Object) {
	o.t.Helper()
	if err := o.client.Create(o.t.Context(), obj); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = o.client.Delete(context.Background(), obj) })
}

// untilRefused waits until an object may not be created any more.
func (o *operator) untilRefused(obj client.Object) {
	o.t.Helper()
	testkit.Eventually(o.t, soon, func(ctx context.Context) error {
		if o.client.Create(ctx, obj.DeepCopyObject().(client.Object), client.DryRunAll) == nil {
			return fmt.Errorf("%T may still be created", obj)
		}
		return nil
	})
}
