package helm

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// limited returns the configuration of a user who may do with these resources of the namespace what they say, and all
// if they say nothing: "deployments.apps", "services:get,list".
func (w *world) limited(resources ...string) *rest.Config {
	w.t.Helper()
	user := "helm-test-" + w.namespace
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "limited"}}
	for _, text := range resources {
		name, verbs, some := strings.Cut(text, ":")
		resource, group, _ := strings.Cut(name, ".")
		rule := rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"*"}}
		if some {
			rule.Verbs = strings.Split(verbs, ",")
		}
		role.Rules = append(role.Rules, rule)
	}
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
	limited := rest.CopyConfig(w.config)
	limited.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	return limited
}
