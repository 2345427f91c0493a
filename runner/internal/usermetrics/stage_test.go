package usermetrics

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// stage is an endpoint whose metrics are shown by a registry of its own.
type stage struct {
	t        testing.TB
	registry *prometheus.Registry
	store    *Store
	endpoint *Endpoint
	tokens   atomic.Int64
}

func newStage(t testing.TB) *stage {
	t.Helper()
	s := &stage{t: t, registry: prometheus.NewPedanticRegistry()}
	var err error
	s.store, err = NewStore(s.registry, clocktesting.NewFakePassiveClock(time.Unix(1600000000, 0)))
	if err != nil {
		t.Fatal(err)
	}
	token := func() string { return "token-" + strconv.FormatInt(s.tokens.Add(1), 10) }
	s.endpoint, err = New(Config{Store: s.store, Address: "127.0.0.1:0", NewToken: token, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, listener := range s.endpoint.listeners {
			listener.Close()
		}
	})
	return s
}

// post sends a report to a URL and returns the answer.
func (s *stage) post(url, body string) (status int, text string) {
	s.t.Helper()
	answer := httptest.NewRecorder()
	s.endpoint.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, url, strings.NewReader(body)))
	return answer.Code, strings.TrimSpace(answer.Body.String())
}

// report sends a report that has to be taken in.
func (s *stage) report(url, body string) {
	s.t.Helper()
	if status, text := s.post(url, body); status != http.StatusOK || text != "" {
		s.t.Errorf("%s: %d %q", body, status, text)
	}
}

// page is the page of metrics without comments, sorted. It breaks the test when it cannot be shown.
func (s *stage) page() []string {
	s.t.Helper()
	answer := httptest.NewRecorder()
	handler := promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError})
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		s.t.Fatalf("the page of metrics is broken: %s", answer.Body)
	}
	var lines []string
	for line := range strings.Lines(answer.Body.String()) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return lines
}

func resource(name string) engine.Owner {
	return engine.Owner{APIVersion: "example.com/v1", Kind: "Thing", Namespace: "ns", Name: name, UID: "uid-of-" + "first"}
}

func labelled(metric, name string) string {
	return metric + `{group="example.com",kind="Thing",name="` + name + `",namespace="ns",version="v1"}`
}
