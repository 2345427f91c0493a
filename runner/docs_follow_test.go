package runner_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// follow does what a page of the manual says: it writes the files and carries out the commands, in their order, and
// compares what it sees with what the page shows.
func follow(t *testing.T, name string) shell {
	t.Helper()
	s := shell{setup(t, testkit.Cluster(t), nil)}
	for _, b := range blocks(readPage(t, name)) {
		switch {
		case b.file != "":
			if err := s.save(b.file, b.text); err != nil {
				t.Fatal(err)
			}
		case b.language == "console":
			for _, c := range b.commands() {
				s.follow(c)
			}
		}
	}
	for _, trouble := range []string{"drops fields of status", "Forbidden", "cannot be watched"} {
		if s.log.count(trouble) > 0 {
			t.Errorf("the log has %q:\n%s", trouble, s.log.text())
		}
	}
	return s
}

// follow carries out one command until it shows what the page does. What changes something is done once.
func (s shell) follow(c command) {
	s.t.Helper()
	s.t.Logf("$ %s", c.line)
	want := withoutAge(strings.Join(c.want, "\n"))
	if looks(c.line) {
		testkit.Eventually(s.t, soon, func(ctx context.Context) error {
			got, err := s.see(ctx, c.line)
			if err == nil && withoutAge(got) != want {
				err = fmt.Errorf("$ %s prints %q, the page says %q", c.line, got, want)
			}
			return err
		})
		return
	}
	got, err := s.do(c.line)
	if err == nil && len(c.want) > 0 && withoutAge(got) != want {
		err = fmt.Errorf("it prints %q, the page says %q", got, want)
	}
	if err != nil {
		s.t.Fatalf("$ %s: %v", c.line, err)
	}
}

// age is what kubectl shows in the last column.
var age = regexp.MustCompile(`(?m) \d+[smhd](\d+[smhd])?$`)

func withoutAge(text string) string {
	return age.ReplaceAllString(strings.TrimRight(text, "\n"), " AGE")
}

// limit starts the operator anew with the rights of a service account of the test's namespace and no others.
func (s shell) limit(account string) {
	s.stop()
	s.start(func(o *runner.Options) {
		o.RESTConfig.Impersonate.UserName = "system:serviceaccount:" + s.namespace + ":" + account
	})
}

// told waits for an event about a resource that is there now.
func (s shell) told(kind, name string) {
	s.t.Helper()
	mapping, err := s.mapping(kind)
	if err != nil {
		s.t.Fatal(err)
	}
	testkit.Eventually(s.t, soon, func(ctx context.Context) error {
		obj, err := s.get(ctx, mapping.GroupVersionKind, name)
		if err != nil {
			return err
		}
		events, err := s.events(ctx, name)
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Regarding.UID == obj.GetUID() {
				return nil
			}
		}
		return fmt.Errorf("there is no event about this %s %s among %d of its name", kind, name, len(events))
	})
}

// refusals fails the test if a right was missing.
func (s shell) refusals() {
	s.t.Helper()
	if s.log.count("orbidden") > 0 {
		s.t.Errorf("the rights of rbac.yaml are not enough:\n%s", s.log.text())
	}
}

func TestFirstOperatorFromAPlaybook(t *testing.T) {
	t.Parallel()
	s := follow(t, "docs/first-operator-playbook.md")

	s.limit("greeter")
	for _, line := range []command{
		{line: "kubectl apply -f greeting.yaml"},
		{"kubectl wait --for=condition=Ready greeting/hello", []string{"greeting.example.com/hello condition met"}},
		{line: `kubectl patch configmap hello-greeting --type=merge -p '{"data":{"text":"by hand"}}'`},
		{"kubectl get configmap hello-greeting -o jsonpath={.data.text}", []string{"Good morning"}},
	} {
		s.follow(line)
	}
	s.told("greeting", "hello") // a right to record events that is missing shows nowhere else
	s.follow(command{line: "kubectl delete greeting hello"})
	s.refusals()
}

func TestFirstOperatorFromAChart(t *testing.T) {
	t.Parallel()
	s := follow(t, "docs/first-operator-chart.md")

	s.limit("siteop")
	for _, line := range []command{
		{line: "kubectl apply -f site.yaml"},
		{"kubectl wait --for=condition=Ready site/shop", []string{"site.web.example.com/shop condition met"}},
		{line: `kubectl patch site shop --type=merge -p '{"spec":{"replicas":4}}'`},
		{"kubectl get deployment shop -o jsonpath={.spec.replicas}", []string{"4"}},
		{line: "kubectl delete service shop"},
		{"kubectl get service shop -o jsonpath={.spec.ports[0].port}", []string{"80"}},
	} {
		s.follow(line)
	}
	s.told("site", "shop")
	s.follow(command{line: "kubectl delete site shop"})
	s.refusals()
}

// TestReadmeAgreesWithTheManual compares the files of the README's first operator with those of the page.
func TestReadmeAgreesWithTheManual(t *testing.T) {
	files := map[string]string{}
	for _, b := range blocks(readPage(t, "docs/first-operator-playbook.md")) {
		if _, known := files[b.file]; !known {
			files[b.file] = b.text
		}
	}
	for _, b := range blocks(readPage(t, "README.md")) {
		if b.file != "" {
			if diff := cmp.Diff(files[b.file], b.text); diff != "" {
				t.Errorf("%s is another one in README.md (-docs/first-operator-playbook.md +README.md):\n%s", b.file, diff)
			}
		}
		for _, name := range regexp.MustCompile(`apply -f (\S+)`).FindAllStringSubmatch(b.text, -1) {
			if files[name[1]] == "" {
				t.Errorf("README.md applies %s, which docs/first-operator-playbook.md does not have", name[1])
			}
		}
	}
}
