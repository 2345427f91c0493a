package runner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// runs returns how many runs of a resource have ended, of any trigger or of one.
func (o *operator) runs(name, trigger string) int {
	return o.log.count(`"outcome":`, fmt.Sprintf(`"name":%q`, name), fmt.Sprintf(`"trigger":"%s`, trigger))
}

// eventuallyRuns waits until so many runs have ended.
func (o *operator) eventuallyRuns(name, trigger string, want int) {
	o.t.Helper()
	testkit.Eventually(o.t, soon, func(context.Context) error {
		if got := o.runs(name, trigger); got < want {
			return fmt.Errorf("%d runs of %s (%s), want %d", got, name, trigger, want)
		}
		return nil
	})
}

// TestChildrenAreFoundAfterARestart restarts the operator with a playbook that never looks at the child: the old tool
// watched it again only once a playbook had read it (AO 5.3).
func TestChildrenAreFoundAfterARestart(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": keepConfigMap})
	o.start()
	o.create(gvk, "thing", map[string]any{"message": "one"})
	o.eventually(gvk, "thing", ready)
	o.stop()

	o.write("play.yml", idlePlay)
	o.log = &lines{}
	o.start()
	testkit.Eventually(t, soon, func(context.Context) error {
		if o.log.count("Watching children", "Kind=ConfigMap") == 0 {
			return fmt.Errorf("the child was not found")
		}
		return nil
	})
	child, err := o.get(t.Context(), configMaps, "thing")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, soon, func(context.Context) error { // the watch may not be there yet for the first edit
		if o.runs("thing", "dependent") > 0 {
			return nil
		}
		o.edit(child, set(fmt.Sprint("by hand ", o.log.count("")), "data", "message")) //nolint:contextcheck // it uses the test's
		return fmt.Errorf("no run because of the child")
	})
}

// TestChildrenAreNotWatchedIfNotWanted: with watchDependentResources: false nothing is watched, nor looked for.
func TestChildrenAreNotWatchedIfNotWanted(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  watchDependentResources: false\n"), "play.yml": keepConfigMap,
	})
	o.start()
	o.create(gvk, "thing", map[string]any{"message": "one"})
	o.eventually(gvk, "thing", ready)
	child, err := o.get(t.Context(), configMaps, "thing")
	if err != nil {
		t.Fatal(err)
	}
	if len(child.GetOwnerReferences()) != 1 {
		t.Error("the child has no owner: that is another matter than watching it")
	}
	o.delete(child)
	o.create(gvk, "other", map[string]any{"message": "x"})
	o.eventually(gvk, "other", ready) // the first one's child has had its time
	if n := o.runs("thing", ""); n != 1 || o.log.count("Watching children") > 0 || o.log.count("Looked for children") > 0 {
		t.Errorf("%d runs, want 1 and nothing watched or looked for:\n%s", n, o.log.text())
	}
}

// TestUnwatchableChildren runs the operator as a ServiceAccount that may make ConfigMaps but not watch them (D10 and C9 of
// the users' complaints; AO 10.1 no. 13: the old tool took the failed watch for a good one for ever).
// Covers AO 10.3 no. 9.
func TestUnwatchableChildren(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	admin := testkit.Cluster(t)
	o := setup(t, admin, map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": keepConfigMap})
	o.config = o.serviceAccount(
		rbacv1.PolicyRule{APIGroups: []string{gvk.Group}, Resources: []string{"*"}, Verbs: []string{"*"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "create", "patch", "update"}},
		rbacv1.PolicyRule{APIGroups: []string{"events.k8s.io", ""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	)
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"message": "one"})
	o.eventually(gvk, "thing", ready)
	o.eventuallyEvent("thing", "Warning", "DependentUnwatchable", "the operator may not list configmaps")
	o.edit(thing, set("two", "spec", "message"))
	o.eventually(configMaps, "thing", message("two"))
	o.eventually(gvk, "thing", ready)
	if n := o.log.count("Cannot watch children"); n != 1 {
		t.Errorf("it is in the log %d times, want once:\n%s", n, o.log.text())
	}
	events, err := o.events(t.Context(), "thing")
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range events {
		if e.Reason == "DependentUnwatchable" {
			told++
			if e.Series != nil {
				t.Errorf("it was told %d times", e.Series.Count)
			}
		}
	}
	if told != 1 {
		t.Errorf("%d events say so, want one", told)
	}

	o.grant("watchers", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}})
	testkit.Eventually(t, soon, func(context.Context) error {
		if o.log.count("Watching children again") == 0 {
			return fmt.Errorf("the watch does not come back")
		}
		return nil
	})
	child, err := o.get(t.Context(), configMaps, "thing")
	if err != nil {
		t.Fatal(err)
	}
	o.edit(child, set("by hand", "data", "message"))
	o.eventually(configMaps, "thing", message("two"))
}

// serviceAccount returns the configuration of a ServiceAccount with a few rights in the operator's namespace.
func (o *operator) serviceAccount(rules ...rbacv1.PolicyRule) *rest.Config {
	o.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "operator"}}
	if err := o.client.Create(o.t.Context(), account); err != nil {
		o.t.Fatal(err)
	}
	o.grant("few", rules...)
	accounts := kubernetes.NewForConfigOrDie(o.config).CoreV1().ServiceAccounts(o.namespace)
	token, err := accounts.CreateToken(o.t.Context(), account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		o.t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(o.config)
	config.BearerToken, config.QPS = token.Status.Token, -1
	return config
}

// grant gives the ServiceAccount rights in the operator's namespace.
func (o *operator) grant(name string, rules ...rbacv1.PolicyRule) {
	o.t.Helper()
	meta := metav1.ObjectMeta{Namespace: o.namespace, Name: name}
	for _, obj := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: o.namespace, Name: "operator"}},
		},
	} {
		if err := o.client.Create(o.t.Context(), obj); err != nil {
			o.t.Fatal(err)
		}
	}
}

// keepDeployment makes a Deployment without a number of replicas, and waits in the middle for as long as there is a file.
const keepDeployment = `
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Keep the Deployment
      kubernetes.core.k8s:
        definition:
          apiVersion: apps/v1
          kind: Deployment
          metadata: {name: "{{ ansible_operator_meta.name }}", namespace: "{{ ansible_operator_meta.namespace }}"}
          spec:
            selector: {matchLabels: {app: x}}
            template:
              metadata: {labels: {app: x}}
              spec: {containers: [{name: web, image: "web:{{ version }}"}]}
    - name: Wait
      ansible.builtin.wait_for: {path: DIR/wait, state: absent, sleep: 1}
`

// TestWhatOthersDoToAChild has Kubernetes' controllers, an autoscaler and a person at work on a Deployment that a playbook
// made. Only the person's edit of what the playbook applied is put right, and one in the middle of a run once after it.
// Covers UP D6.
func TestWhatOthersDoToAChild(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": keepDeployment})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"version": "one"})
	o.eventually(gvk, "thing", ready)
	web := o.eventually(deployments, "thing", image("web:one"))
	autoscaler := client.WithFieldOwner(o.client, "kube-controller-manager")
	for replicas := range 3 {
		o.scale(autoscaler, web.GetName(), int32(replicas+2))
	}
	o.edit(web, set("y", "metadata", "labels", "foreign"))
	o.edit(web, set("y", "metadata", "annotations", "foreign.example.com/n"))

	o.edit(web, setImage("by-hand:1"))
	o.eventually(deployments, "thing", image("web:one"))
	o.eventuallyRuns("thing", "dependent", 1)

	o.write("wait", "")
	o.edit(thing, set("two", "spec", "version"))
	o.eventually(deployments, "thing", image("web:two"))
	o.edit(web, setImage("by-hand:2")) // while the run waits
	if n := o.runs("thing", ""); n != 2 {
		t.Errorf("%d runs have ended, want 2: one for the resource and one for the edit by hand\n%s", n, o.log.text())
	}
	if err := os.Remove(filepath.Join(o.dir, "wait")); err != nil {
		t.Fatal(err)
	}
	o.eventuallyRuns("thing", "dependent", 2)
	o.eventually(deployments, "thing", image("web:two"))
	o.create(gvk, "other", map[string]any{"version": "one"})
	o.eventually(gvk, "other", ready) // whatever else there was has had its time
	if n := o.runs("thing", ""); n != 4 {
		t.Errorf("%d runs, want 4\n%s", n, o.log.text())
	}
}

// scale sets the number of replicas as an autoscaler does.
func (o *operator) scale(as client.Client, name string, replicas int32) {
	o.t.Helper()
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name}}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	if err := as.SubResource("scale").Update(o.t.Context(), web, client.WithSubResourceBody(scale)); err != nil {
		o.t.Fatal(err)
	}
}

// image compares the image of a Deployment.
func image(want string) func(*unstructured.Unstructured) error {
	return func(obj *unstructured.Unstructured) error {
		containers, _, _ := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "containers")
		if len(containers) != 1 || containers[0].(map[string]any)["image"] != want {
			return fmt.Errorf("the containers are %v, want one of image %s", containers, want)
		}
		return nil
	}
}

func setImage(name string) func(*unstructured.Unstructured) {
	return func(obj *unstructured.Unstructured) {
		containers, _, _ := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "containers")
		containers[0].(map[string]any)["image"] = name
		_ = unstructured.SetNestedSlice(obj.Object, containers, "spec", "template", "spec", "containers")
	}
}
