package proxy_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// BenchmarkRequest compares requests to an API server directly, through the proxy, and through the same proxy without
// TLS, on connections that are open already and on new ones. The last is what the first request of each module pays.
func BenchmarkRequest(b *testing.B) {
	s := newRealStage(b)
	session := s.open(b, s.app(b, "x"))
	viaTLS := through(b, session)
	plainServer := httptest.NewServer(s.withHost())
	b.Cleanup(plainServer.Close)
	viaPlain := &rest.Config{Host: plainServer.URL, BearerToken: viaTLS.BearerToken, QPS: -1}
	for _, path := range []struct {
		name   string
		config *rest.Config
	}{{"direct", s.config}, {"proxy", viaTLS}, {"proxy-without-tls", viaPlain}} {
		path.config.ContentType = "application/json"
		clients := must(kubernetes.NewForConfig(path.config))
		maps := clients.CoreV1().ConfigMaps(s.namespace)
		b.Run("get/"+path.name, func(b *testing.B) {
			for b.Loop() {
				must(maps.Get(b.Context(), "kube-root-ca.crt", metav1.GetOptions{}))
			}
		})
		b.Run("create/"+path.name, func(b *testing.B) {
			for b.Loop() {
				must(maps.Create(b.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}, metav1.CreateOptions{}))
			}
		})
		b.Run("connect/"+path.name, func(b *testing.B) {
			for b.Loop() {
				connectOnce(b, path.config)
			}
		})
	}
}

// withHost serves the proxy without TLS, under an address that it takes for its own.
func (s *realStage) withHost() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = strings.TrimPrefix(s.URL(), "https://")
		s.ServeHTTP(w, r)
	})
}

// connectOnce asks for the version on a connection of its own.
func connectOnce(b *testing.B, config *rest.Config) {
	b.Helper()
	own := rest.CopyConfig(config)
	own.Proxy = http.ProxyFromEnvironment // a config with a function in it shares no connection with others
	client, err := rest.HTTPClientFor(own)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := client.Get(strings.TrimSuffix(own.Host, "/") + "/version")
	if err != nil {
		b.Fatal(err)
	}
	_ = resp.Body.Close()
	client.CloseIdleConnections()
	if resp.StatusCode != http.StatusOK {
		b.Fatal(fmt.Errorf("status %d", resp.StatusCode))
	}
}
