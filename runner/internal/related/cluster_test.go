package related_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

const database = `
  related:
    - {apiVersion: v1, kind: Secret, name: "{{ .spec.secretName }}", as: database, optional: true}
`

// UP D7: a Secret that is referred to and not owned was not watched; with label hacks, noise woke as well.
func TestChangeOfDataWakesInTimeAndMetadataDoesNot(t *testing.T) {
	t.Parallel()
	s := newScene(t, database)
	secret := s.secret(t, "db", map[string]string{"password": "one"})
	app := s.app("web", map[string]any{"secretName": "db"})
	if s.resolve(t, app).Given.Objects["database"] == nil {
		t.Error("the run does not get the Secret")
	}
	s.followed(t, 1)
	s.patch(t, secret, `{"stringData": {"password": "two"}}`)
	s.expect(t, "web")
	s.resolve(t, app)
	for i := range 10 {
		s.patch(t, secret, fmt.Sprintf(`{"metadata": {"annotations": {"a": "%d"}, "labels": {"b": "%d"}}}`, i, i))
	}
	s.quiet(t, "only metadata changed", func() { s.patch(t, secret, `{"stringData": {"password": "three"}}`) }, "web")
}

func TestObjectThatAppearsOrGoesWakes(t *testing.T) {
	t.Parallel()
	s := newScene(t, database)
	app := s.app("web", map[string]any{"secretName": "db"})
	if got := s.resolve(t, app); got.Missing != "" || got.Given.Objects["database"] != nil {
		t.Errorf("an optional object that is missing gives %+v", got)
	}
	s.followed(t, 1)
	secret := s.secret(t, "db", map[string]string{"password": "one"})
	s.expect(t, "web")
	s.resolve(t, app)
	s.delete(t, secret)
	s.expect(t, "web")
	s.resolve(t, app)
	s.secret(t, "db", map[string]string{"password": "one"})
	s.expect(t, "web")
}

// A change between the reading and the watch is found by the first list.
func TestChangeBeforeTheWatchWakes(t *testing.T) {
	t.Parallel()
	s := newScene(t, database)
	secret := s.secret(t, "db", map[string]string{"password": "one"})
	app := s.app("web", map[string]any{"secretName": "db"})
	s.resolve(t, app)
	s.patch(t, secret, `{"stringData": {"password": "two"}}`)
	s.expect(t, "web")
}

// What a run writes itself wakes nobody, or a playbook that renews its Secret would never come to rest.
func TestOwnWritesWakeNobody(t *testing.T) {
	t.Parallel()
	s := newScene(t, database)
	secret := s.secret(t, "db", map[string]string{"password": "one"})
	app := s.app("web", map[string]any{"secretName": "db"})
	name := s.nameOf("web")
	s.resolve(t, app)
	s.followed(t, 1)
	s.BeginRun(name)
	s.patch(t, secret, `{"stringData": {"password": "two"}}`)
	s.EndRun(name, []engine.Write{{
		GVK: corev1.SchemeGroupVersion.WithKind("Secret"), Namespace: s.namespace, Name: "db", UID: secret.UID, ResourceVersion: secret.ResourceVersion,
	}})
	s.quiet(t, "the run changed it", func() { s.patch(t, secret, `{"stringData": {"password": "three"}}`) }, "web")

	s.resolve(t, app)
	s.BeginRun(name)
	s.patch(t, secret, `{"stringData": {"password": "four"}}`)
	select {
	case got := <-s.wakes:
		t.Errorf("%s was woken during its run", got)
	case <-time.After(500 * time.Millisecond):
	}
	s.EndRun(name, nil)
	s.expect(t, "web")
}

func TestWatchesAreSharedNarrowAndDropped(t *testing.T) {
	t.Parallel()
	s := newScene(t, database)
	for i := range 10 {
		for _, app := range []string{"a", "b"} {
			s.resolve(t, s.app(fmt.Sprint(app, i), map[string]any{"secretName": fmt.Sprint("db", i)}))
		}
	}
	s.followed(t, 10)
	if whole := s.requests.with("/secrets?"); len(whole) == 0 || strings.Contains(strings.Join(without(whole, "fieldSelector=metadata.name"), "\n"), "/secrets") {
		t.Errorf("requests that name no object, for few names:\n%s", strings.Join(without(whole, "fieldSelector"), "\n"))
	}
	s.resolve(t, s.app("a10", map[string]any{"secretName": "db10"}))
	s.followed(t, 1) // many names: one watch for all of them
	s.secret(t, "db3", map[string]string{"password": "one"})
	woken := map[string]bool{<-s.wakes: true, <-s.wakes: true}
	if diff := cmp.Diff(map[string]bool{"a3": true, "b3": true}, woken); diff != "" {
		t.Errorf("woken by a change of db3 (-want +got):\n%s", diff)
	}
	for i := range 11 {
		s.Forget(s.nameOf(fmt.Sprint("a", i)))
		if i != 3 {
			s.Forget(s.nameOf(fmt.Sprint("b", i)))
		}
	}
	s.followed(t, 1)
	s.resolve(t, s.app("b3", map[string]any{}))
	s.followed(t, 0)
	if cluster := s.requests.with("/api/v1/secrets"); len(cluster) > 0 {
		t.Errorf("requests over all namespaces: %v", cluster)
	}
}

func TestSelectorFollowsWhatItChooses(t *testing.T) {
	t.Parallel()
	s := newScene(t, `
  related:
    - apiVersion: v1
      kind: Secret
      selector: {matchLabels: {app: "{{ .metadata.name }}"}}
      as: all
`)
	labelled := func(secret *corev1.Secret) { secret.Labels = map[string]string{"app": "web"} }
	s.secret(t, "other", map[string]string{"k": "v"})
	one := s.secret(t, "one", map[string]string{"k": "v"}, labelled)
	app := s.app("web", nil)
	if got := s.resolve(t, app).Given.Objects["all"]; len(got.([]any)) != 1 {
		t.Errorf("the run gets %v", got)
	}
	s.followed(t, 1)
	two := s.secret(t, "two", map[string]string{"k": "v"}, labelled)
	s.expect(t, "web")
	s.resolve(t, app)
	s.patch(t, two, `{"metadata": {"labels": {"app": null}}}`)
	s.expect(t, "web")
	s.resolve(t, app)
	s.patch(t, one, `{"metadata": {"labels": {"more": "x"}}}`)
	s.quiet(t, "a label changed that the selector does not name", func() { s.patch(t, one, `{"stringData": {"k": "w"}}`) }, "web")
}

func TestStatusCountsWhereAskedFor(t *testing.T) {
	t.Parallel()
	s := newScene(t, `
  related:
    - {apiVersion: v1, kind: Pod, name: "{{ .spec.pod }}", as: machine, watchStatus: true}
`)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "p"},
		Spec:       corev1.PodSpec{NodeName: "nowhere", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	if err := s.client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	s.resolve(t, s.app("web", map[string]any{"pod": "p"}))
	s.followed(t, 1)
	pod.Status.Message = "something"
	if err := s.client.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	s.expect(t, "web")
}

// UP C9: a role that allows one object by name gave a log full of refusals, and each read waited for a cache.
func TestRoleWithOneNameIsEnough(t *testing.T) {
	t.Parallel()
	s := newScene(t, database, impersonate("by-name"))
	s.allow(t, "by-name", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"db"}, Verbs: []string{"get", "list", "watch"}})
	secret := s.secret(t, "db", map[string]string{"password": "one"})
	start := time.Now()
	got := s.resolve(t, s.app("web", map[string]any{"secretName": "db"}))
	if took := time.Since(start); got.Given.Objects["database"] == nil || took > promised {
		t.Errorf("after %s the run gets %+v", took, got)
	}
	s.followed(t, 1)
	s.patch(t, secret, `{"stringData": {"password": "two"}}`)
	s.expect(t, "web")
	if n := s.log.count("Cannot watch"); n != 0 {
		t.Errorf("%d lines complain", n)
	}
}

func TestDeniedWatchIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t, database, impersonate("get-only"))
	s.allow(t, "get-only", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}})
	s.secret(t, "db", map[string]string{"password": "one"})
	for _, name := range []string{"a", "b"} {
		if got := s.resolve(t, s.app(name, map[string]any{"secretName": "db"})); got.Given.Objects["database"] == nil {
			t.Errorf("without the right to watch the run gets %+v", got)
		}
	}
	if got := s.resolve(t, s.app("c", map[string]any{"secretName": "other"})); got.Missing != "" {
		t.Errorf("an optional object that is missing gives %+v", got)
	}
	testkit.Eventually(t, soon, func(context.Context) error {
		if refused := s.requests.refused(); refused < 4 {
			return fmt.Errorf("%d requests were refused", refused)
		}
		return nil
	})
	if n := s.log.count("Cannot watch"); n != 1 {
		t.Errorf("it is told %d times", n)
	}
}

func TestMissingRightIsNamed(t *testing.T) {
	t.Parallel()
	s := newScene(t, database, impersonate("nothing"))
	got := s.resolve(t, s.app("web", map[string]any{"secretName": "db"}))
	want := &engine.Denial{Verb: "get", Resource: "secrets", Namespace: s.namespace}
	if got.Denial != nil {
		got.Denial.Message = ""
	}
	if diff := cmp.Diff(want, got.Denial); diff != "" || got.Missing == "" {
		t.Errorf("missing %q, denial (-want +got):\n%s", got.Missing, diff)
	}
}

func TestKindThatIsNotServedIsMissing(t *testing.T) {
	t.Parallel()
	s := newScene(t, `
  related:
    - {apiVersion: nowhere.example.com/v1, kind: Nothing, name: x, as: nothing}
`)
	got := s.resolve(t, s.app("web", nil))
	if !strings.Contains(got.Missing, "does not serve Nothing") {
		t.Errorf("missing is %q", got.Missing)
	}
}

// impersonate makes the registry act as another user.
func impersonate(user string) func(*rest.Config) {
	return func(config *rest.Config) {
		config.Impersonate = rest.ImpersonationConfig{UserName: "related-" + user, Groups: []string{"system:authenticated"}}
	}
}

// allow gives that user rights in the namespace.
func (s *scene) allow(t *testing.T, user string, rule rbacv1.PolicyRule) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: s.namespace, Name: user}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "related-" + user}},
	}
	if err := s.client.Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	if err := s.client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	s.granted(t, user)
}
