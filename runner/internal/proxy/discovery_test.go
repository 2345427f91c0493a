package proxy_test

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"

	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// errUnsettled says that answers are still confirmed each time.
var errUnsettled = errors.New("the proxy still asks the API server")

// watchKinds lets a proxy be told when kinds change.
func watchKinds(c *proxy.Config) { c.Kinds = metadata.NewForConfigOrDie(c.RESTConfig) }

// discoverAll asks for all that there is in both ways that clients know.
func discoverAll(tb testing.TB, session *proxy.Session) {
	tb.Helper()
	c := discovery.NewDiscoveryClientForConfigOrDie(through(tb, session))
	for _, legacy := range []bool{false, true} {
		c.UseLegacyDiscovery = legacy
		if _, _, err := c.ServerGroupsAndResources(); err != nil {
			tb.Fatal(err)
		}
	}
	must(c.ServerVersion())
	must(c.OpenAPIV3().Paths())
	must(c.OpenAPISchema())
}

// TestDiscoveryIsRemembered counts what runs cost the API server. With the old tool each one asked for everything.
// Covers UP A7.
func TestDiscoveryIsRemembered(t *testing.T) {
	s := newRealStage(t, watchKinds)
	s.settle(t)
	session := s.open(t, s.app(t, "x"))
	discoverAll(t, session)
	report := session.Close()
	t.Logf("a run that asks for everything sends %d requests; %d answers come from memory", report.Requests, report.Remembered)
	if report.Requests != 0 || report.Remembered < 20 {
		t.Errorf("a run sends %d requests and gets %d answers from memory, want all from there", report.Requests, report.Remembered)
	}
}

// settle waits until the proxy answers from memory: this test's own kinds were made a moment ago.
func (s *realStage) settle(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, soon, func(context.Context) error {
		session := s.open(t, owner(s.namespace, "settle"))
		discoverAll(t, session)
		discoverAll(t, session)
		if report := session.Close(); report.Remembered < report.Requests {
			return errUnsettled
		}
		return nil
	})
}

// TestKindOfSomebodyElse makes a kind behind the proxy's back, while a client has what was there before: when it looks
// again, as kubectl and helm do where nothing matches, it finds it (C14).
func TestKindOfSomebodyElse(t *testing.T) {
	for name, option := range map[string]func(*proxy.Config){"watched": watchKinds, "not watched": func(*proxy.Config) {}} {
		t.Run(name, func(t *testing.T) {
			s := newRealStage(t, option)
			session := s.open(t, s.app(t, "x"))
			cached := memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(through(t, session)))
			mapper := restmapper.NewDeferredDiscoveryRESTMapper(cached)
			must(mapper.RESTMapping(schema.GroupKind{Kind: "ConfigMap"}))
			gadget := schema.GroupVersionKind{Group: s.namespace + ".example.com", Version: "v1", Kind: "Gadget"}
			testkit.InstallCRD(t, s.config, gadget)
			testkit.Eventually(t, soon, func(context.Context) error {
				mapper.Reset() // as a new process does that has a cache of an earlier one
				_, err := mapper.RESTMapping(gadget.GroupKind())
				return err
			})
		})
	}
}

// BenchmarkDiscovery asks for the groups and one group's resources as each new process of a playbook does, directly and
// from memory.
func BenchmarkDiscovery(b *testing.B) {
	s := newRealStage(b, watchKinds)
	session := s.open(b, s.app(b, "x"))
	for name, config := range map[string]*discovery.DiscoveryClient{
		"direct": discovery.NewDiscoveryClientForConfigOrDie(s.config), "proxy": discovery.NewDiscoveryClientForConfigOrDie(through(b, session)),
	} {
		measure(b, name, func(b *testing.B) {
			b.Helper()
			must(config.ServerGroups())
			must(config.ServerResourcesForGroupVersion("apps/v1"))
		})
	}
}
