package helm

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// limited returns the configuration of a user who has the given rights in the namespace.
func (w *world) limited(rules ...rbacv1.PolicyRule) *rest.Config {
	w.t.Helper()
	user := "helm-test-" + w.namespace
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "limited"}, Rules: rules}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "limited"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "limited"},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}},
	}
	if err := w.client.Create(w.t.Context(), role); err != nil {
		w.t.Fatal(err)
	}
	if err := w.client.Create(w.t.Context(), binding); err != nil {
		w.t.Fatal(err)
	}
	config := rest.CopyConfig(w.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	return config
}

// An operator that may make objects of a kind and not change them does well as long as none differs.
func TestPatchRightsAreNotNeededWhenNothingDiffers(t *testing.T) {
	w := newWorld(t)
	look := []string{"get", "create", "delete"}
	config := w.limited(
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"*"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: look},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: append([]string{"patch"}, look...)},
		rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: look},
	)
	e := w.engine("plain", func(c *Config) { c.RESTConfig = config })
	job := w.job("one", map[string]any{"message": "a"})
	steps := []struct {
		message string
		did     engine.Action
	}{{"a", engine.ActionInstall}, {"a", engine.ActionNone}, {"b", engine.ActionUpgrade}, {"b", engine.ActionNone}}
	for i, step := range steps {
		job.Inputs = map[string]any{"message": step.message} // which is in the ConfigMap only
		if result := w.did(e, verified(job), step.did); len(result.Denials) != 0 {
			t.Errorf("step %d: refused %+v", i, result.Denials)
		}
	}
	w.run(e, finalize(job), engine.Changed)
}
