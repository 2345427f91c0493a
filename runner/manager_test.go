package runner_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

const idlePlay = "- hosts: localhost\n  gather_facts: false\n"

// probe returns the answer of a probe, or an error when it is not 200.
func (o *operator) probe(path string) (string, error) {
	response, err := http.Get("http://" + o.probes + path)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %d: %s", path, response.StatusCode, body)
	}
	return string(body), err
}

func (o *operator) eventuallyReady() {
	o.t.Helper()
	testkit.Eventually(o.t, soon, func(context.Context) error { _, err := o.probe("/readyz"); return err })
}

func TestMissingCRDIsWaitedFor(t *testing.T) {
	t.Parallel()
	config := testkit.Cluster(t)
	there := kindFor(t)
	late := schema.GroupVersionKind{Group: "late." + there.Group, Version: "v1", Kind: "Late"}
	o := setup(t, config, map[string]string{
		"watches.yaml": watchesFor(there, "") + watchesFor(late, ""),
		"play.yml":     idlePlay,
	})
	o.start()
	o.create(there, "thing", nil)
	o.eventually(there, "thing", ready)
	if o.log.count("Waiting for a kind", `"kind":"Late"`, "install its CRD") != 1 {
		t.Errorf("the log does not say once what is waited for:\n%s", o.log.text())
	}
	o.eventuallyReady() // although a kind is not served
	testkit.InstallCRD(t, config, late)
	o.create(late, "latecomer", nil)
	o.eventually(late, "latecomer", ready)
}

func TestReadinessMeansThatContentCanBeRun(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml":      fmt.Sprintf("- group: %s\n  version: v1\n  kind: Thing\n  chart: DIR/chart\n", gvk.Group),
		"chart/Chart.yaml":  "apiVersion: v2\nname: chart\nversion: 0.1.0\n",
		"chart/values.yaml": "a: 1\n",
	})
	o.start()
	o.eventuallyReady()
	if _, err := o.probe("/healthz"); err != nil {
		t.Error(err)
	}
	o.write("chart/values.yaml", "a: [\n")
	testkit.Eventually(t, soon, func(context.Context) error {
		_, err := o.probe("/readyz")
		if err == nil {
			return fmt.Errorf("still ready with a chart that does not parse")
		}
		return nil
	})
	if _, err := o.probe("/healthz"); err != nil {
		t.Errorf("a broken chart gets the process killed: %v", err)
	}
}

func TestOnlyWatchedNamespacesAreTouched(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": idlePlay})
	elsewhere := testkit.Object(gvk, testkit.Namespace(t, o.client), "elsewhere", nil)
	if err := o.client.Create(t.Context(), elsewhere); err != nil {
		t.Fatal(err)
	}
	second := testkit.Namespace(t, o.client)
	also := testkit.Object(gvk, second, "also", nil)
	if err := o.client.Create(t.Context(), also); err != nil {
		t.Fatal(err)
	}
	o.start(func(options *runner.Options) {
		options.Namespaces = runner.ParseNamespaces(" " + o.namespace + " ,, " + second + ",")
	})
	o.create(gvk, "thing", nil)
	o.eventually(gvk, "thing", ready)
	testkit.Eventually(t, soon, func(ctx context.Context) error {
		if err := o.client.Get(ctx, clientKey(also), also); err != nil {
			return err
		}
		return ready(also)
	})
	if err := o.client.Get(t.Context(), clientKey(elsewhere), elsewhere); err != nil {
		t.Fatal(err)
	}
	if elsewhere.Object["status"] != nil {
		t.Errorf("a resource in a namespace that is not watched got a status: %v", elsewhere.Object["status"])
	}
}

func TestForbiddenNamesTheMissingRight(t *testing.T) {
	t.Parallel()
	admin := testkit.Cluster(t)
	gvk := kindFor(t)
	o := setup(t, admin, map[string]string{"watches.yaml": watchesFor(gvk, "  reconcilePeriod: 1s\n"), "play.yml": keepConfigMap})
	user := "limited-" + o.namespace
	grant(t, o, user, []rbacv1.PolicyRule{
		{APIGroups: []string{gvk.Group}, Resources: []string{"things", "things/status", "things/finalizers"}, Verbs: []string{"*"}},
		{APIGroups: []string{"events.k8s.io", ""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}},
	})
	o.start(func(options *runner.Options) {
		options.RESTConfig = rest.CopyConfig(admin)
		options.RESTConfig.Impersonate.UserName = user
	})
	o.create(gvk, "thing", map[string]any{"message": "x"})
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		c, err := testkit.Condition(obj, "Ready")
		if err != nil {
			return err
		}
		text := fmt.Sprint(c["message"])
		if c["reason"] != "Forbidden" || !strings.Contains(text, "create configmaps") || !strings.Contains(text, o.namespace) {
			return fmt.Errorf("Ready is %v", c)
		}
		return nil
	})
	testkit.Eventually(t, soon, func(context.Context) error {
		if n := o.log.count(`"run":`, `"outcome":`); n < 3 {
			return fmt.Errorf("%d runs", n)
		}
		return nil
	})
	if n := o.log.count(`"msg":"Forbidden"`, "create configmaps"); n != 1 {
		t.Errorf("the missing right is told %d times in the log, want once\n%s", n, o.log.text())
	}
}

// What the operator itself may not do shows as well as what a playbook may not.
func TestForbiddenWritesOfTheOperatorAreTold(t *testing.T) {
	t.Parallel()
	admin := testkit.Cluster(t)
	gvk := kindFor(t)
	o := setup(t, admin, map[string]string{
		"watches.yaml": watchesFor(gvk, finalizerKeys),
		"play.yml":     "- hosts: localhost\n  gather_facts: false\n",
		"cleanup.yml":  touch("DIR/cleaned", "yes"),
	})
	user := "reader-" + o.namespace
	grant(t, o, user, []rbacv1.PolicyRule{
		{APIGroups: []string{gvk.Group}, Resources: []string{"things"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{gvk.Group}, Resources: []string{"things/status"}, Verbs: []string{"*"}},
		{APIGroups: []string{"events.k8s.io", ""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	})
	o.start(func(options *runner.Options) {
		options.RESTConfig = rest.CopyConfig(admin)
		options.RESTConfig.Impersonate.UserName = user
	})
	for _, name := range []string{"one", "two"} {
		o.create(gvk, name, nil)
		o.eventually(gvk, name, func(obj *unstructured.Unstructured) error {
			return condition(obj, "Ready", "False", "Forbidden")
		})
		o.eventuallyEvent(name, "Warning", "Forbidden", "cannot patch")
	}
	if n := o.log.count(`"msg":"Forbidden"`, "finalizer"); n != 1 {
		t.Errorf("told %d times in the log, want once\n%s", n, o.log.text())
	}
	if n := o.log.count(`"msg":"Reconciler error"`); n != 0 {
		t.Errorf("%d lines of controller-runtime beside it", n)
	}
}

// Covers AO 10.2 no. 6.
func TestLeaderElectionLetsOneWork(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	files := map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": idlePlay}
	first := setup(t, testkit.Cluster(t), files)
	second := setup(t, testkit.Cluster(t), files)
	second.namespace = first.namespace
	elect := func(options *runner.Options) {
		options.Namespaces = []string{first.namespace}
		options.LeaderElection.Enabled = true
		options.LeaderElection.ID = "leader." + gvk.Group
		options.LeaderElection.Namespace = first.namespace
	}
	first.start(elect)
	first.create(gvk, "thing", nil)
	first.eventually(gvk, "thing", ready)
	second.start(elect)
	second.eventuallyReady() // a standby has filled its caches
	first.create(gvk, "more", nil)
	first.eventually(gvk, "more", ready)
	if n := second.log.count(`"run":`); n != 0 {
		t.Errorf("the standby ran %d times", n)
	}
	first.stop()
	second.create(gvk, "after", nil)
	second.eventually(gvk, "after", ready)
}

// Covers UP B8.
func TestStopLetsRunsEnd(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, ""),
		"play.yml": touch("DIR/started", "yes") + "    - ansible.builtin.wait_for: {path: DIR/go, timeout: 60}\n" +
			strings.TrimPrefix(keepConfigMap, "\n- hosts: localhost\n  gather_facts: false\n  tasks:\n"),
	})
	o.start(func(options *runner.Options) { options.GracefulShutdownTimeout = soon })
	o.create(gvk, "thing", map[string]any{"message": "done"})
	testkit.Eventually(t, soon, func(context.Context) error {
		_, err := os.Stat(filepath.Join(o.dir, "started"))
		return err
	})
	o.cancel()
	o.write("go", "yes")
	o.stop()
	thing, err := o.get(t.Context(), gvk, "thing")
	if err != nil {
		t.Fatal(err)
	}
	if err := ready(thing); err != nil {
		t.Errorf("the run did not end in peace: %v", err)
	}
}

func TestStopEndsRunsAfterTheGracePeriod(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, ""),
		"play.yml":     touch("DIR/started", "yes") + "    - ansible.builtin.command: sleep 600\n",
	})
	o.start(func(options *runner.Options) { options.GracefulShutdownTimeout = 12 * time.Second })
	o.create(gvk, "thing", nil)
	testkit.Eventually(t, soon, func(context.Context) error {
		_, err := os.Stat(filepath.Join(o.dir, "started"))
		return err
	})
	o.stop()
	thing, err := o.get(t.Context(), gvk, "thing")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := testkit.Condition(thing, "Reconciling"); err != nil || c["reason"] != "Interrupted" {
		t.Errorf("the resource does not say that its run was interrupted: %v %v", c, err)
	}
}

// grant gives a user rights in the operator's namespace.
func grant(t *testing.T, o *operator, user string, rules []rbacv1.PolicyRule) {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "limited"}, Rules: rules}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "limited"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "limited"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if err := o.client.Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	if err := o.client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
}
