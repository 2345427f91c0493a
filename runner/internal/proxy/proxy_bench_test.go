package proxy_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// BenchmarkRequest compares requests to an API server directly, through the proxy, and through the same proxy without
// TLS, on connections that are open already and on new ones. The last is what the first request of each module pays.
//
// Besides the time it reports the processor time of this process, which holds the client and the proxy but not the API
// server: unlike the former it does not depend on what else the machine does.
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
		measure(b, "get/"+path.name, func(b *testing.B) {
			b.Helper()
			must(maps.Get(b.Context(), "kube-root-ca.crt", metav1.GetOptions{}))
		})
		measure(b, "create/"+path.name, func(b *testing.B) {
			b.Helper()
			must(maps.Create(b.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}, metav1.CreateOptions{}))
		})
		measure(b, "connect/"+path.name, func(b *testing.B) {
			b.Helper()
			connectOnce(b, path.config)
		})
	}
}

func measure(b *testing.B, name string, once func(*testing.B)) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		before := processorTime(b)
		for b.Loop() {
			once(b)
		}
		b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-µs/op")
	})
}

// processorTime returns how many microseconds this process has been computing for.
func processorTime(b *testing.B) int64 {
	b.Helper()
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return (usage.Utime.Nano() + usage.Stime.Nano()) / 1000
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
