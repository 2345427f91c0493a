package proxy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// TestHelm installs, upgrades, rolls back and uninstalls with the helm of today (C1: the old tool answered its
// protobuf with "the server rejected our request").
func TestHelm(t *testing.T) {
	s := newRealStage(t)
	program := testkit.Helm(t)
	app := s.app(t, "x")
	session := s.open(t, app)
	on := newTools(t, session)
	chart := on.writeChart(t)
	key := client.ObjectKey{Namespace: s.namespace, Name: "r"}
	check := func(step, want string) {
		t.Helper()
		var made corev1.ConfigMap
		var deployment appsv1.Deployment
		for _, obj := range []client.Object{&made, &deployment, &corev1.Secret{}} {
			if err := s.admin.Get(t.Context(), key, obj); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(reference(app), obj.GetOwnerReferences()); diff != "" {
				t.Errorf("after %s: owner references of %T (-want +got):\n%s", step, obj, diff)
			}
		}
		if made.Data["k"] != want || made.Data["app"] != "true" {
			t.Errorf("after %s: the ConfigMap holds %v, want %s, and that App is served", step, made.Data, want)
		}
	}
	on.run(t, program, "-n", s.namespace, "install", "r", chart, "--wait", "--timeout", "60s")
	check("install", "one")
	on.run(t, program, "-n", s.namespace, "upgrade", "--install", "r", chart, "--set", "k=two", "--wait")
	check("upgrade", "two")
	on.run(t, program, "-n", s.namespace, "upgrade", "r", chart, "--set", "k=three", "--force")
	check("an upgrade that replaces", "three")
	on.run(t, program, "-n", s.namespace, "rollback", "r", "1", "--wait")
	check("rollback", "one")
	on.run(t, program, "-n", s.namespace, "uninstall", "r", "--wait")
	if err := s.admin.Get(t.Context(), key, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("after uninstall: the ConfigMap says %v, want it to be gone", err)
	}
	report := session.Close()
	t.Logf("%d requests, %d answers from memory, %d writes", report.Requests, report.Remembered, len(report.Writes))
}
