package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
)

// watched remembers which kinds of children the proxy asked to watch.
type watched struct {
	mu    sync.Mutex
	pairs []string
}

func (w *watched) Watch(primary, child schema.GroupVersionKind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pairs = append(w.pairs, primary.Kind+" > "+child.Kind)
}

func (w *watched) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.pairs)
}

// stage is a proxy at work.
type stage struct {
	*proxy.Proxy
	children *watched
	stop     func()
}

// newStage starts a proxy in front of an API server.
func newStage(tb testing.TB, config *rest.Config, options ...func(*proxy.Config)) *stage {
	tb.Helper()
	s := &stage{children: &watched{}}
	c := proxy.Config{
		RESTConfig:  config,
		Children:    s.children,
		InjectOwner: true,
		Log:         logr.Discard(),
	}
	for _, o := range options {
		o(&c)
	}
	p, err := proxy.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := p.Start(ctx); err != nil {
			tb.Errorf("Start: %v", err)
		}
	}()
	s.Proxy, s.stop = p, func() { cancel(); <-ended }
	tb.Cleanup(s.stop)
	return s
}

// newFakeStage starts a proxy in front of a handler that stands for the API server.
func newFakeStage(tb testing.TB, handler http.HandlerFunc, options ...func(*proxy.Config)) *stage {
	tb.Helper()
	upstream := httptest.NewServer(handler)
	tb.Cleanup(upstream.Close)
	return newStage(tb, &rest.Config{Host: upstream.URL, BearerToken: "operator"}, options...)
}

// owner returns a resource that exists nowhere; for a fake API server it does.
func owner(namespace, name string) engine.Owner {
	return engine.Owner{APIVersion: "proxy.example.com/v1", Kind: "App", Namespace: namespace, Name: name, UID: "uid-1"}
}

// open begins a session that ends with the test at the latest.
func (s *stage) open(tb testing.TB, owner engine.Owner) *proxy.Session {
	tb.Helper()
	session, err := s.Open(owner)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { session.Close() })
	return session
}

// through returns the configuration of a client that uses the session's kubeconfig.
func through(tb testing.TB, session *proxy.Session) *rest.Config {
	tb.Helper()
	kubeconfig, err := session.Kubeconfig()
	if err != nil {
		tb.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		tb.Fatal(err)
	}
	config.QPS = -1
	return config
}

// httpThrough returns a plain HTTP client that uses the session's kubeconfig.
func httpThrough(tb testing.TB, session *proxy.Session) *http.Client {
	tb.Helper()
	client, err := rest.HTTPClientFor(through(tb, session))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(client.CloseIdleConnections)
	return client
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("not expected in this test: %v", err))
	}
	return value
}

// clientsFrom returns the clients of a process that has a kubeconfig.
func clientsFrom(kubeconfig []byte) (kubernetes.Interface, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}
