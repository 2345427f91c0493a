package usermetrics

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
)

func TestRequests(t *testing.T) {
	const body = `{"name":"a","counter":{}}`
	tests := []struct {
		why          string
		method, url  string
		body, origin string
		status       int
		text         string
	}{
		{why: "a report", method: "POST", url: "http://localhost:5050/metrics", body: body, status: 200},
		{why: "by address", method: "POST", url: "http://127.0.0.1:5050/metrics", body: body, status: 200},
		{why: "by address of IPv6", method: "POST", url: "http://[::1]:5050/metrics", body: body, status: 200},
		{why: "by address without a port", method: "POST", url: "http://[::1]/metrics", body: body, status: 200},
		{why: "another method", method: "GET", url: "http://localhost:5050/metrics", status: 405, text: "Method not allowed"},
		{why: "another method at a run's URL", method: "PUT", url: "http://localhost:5050/metrics/x", status: 405, text: "Method not allowed"},
		{why: "another path", method: "POST", url: "http://localhost:5050/", body: body, status: 404, text: "404 page not found"},
		{why: "not quite the path", method: "POST", url: "http://localhost:5050/metrics/", body: body, status: 404, text: "404 page not found"},
		{why: "a longer word", method: "POST", url: "http://localhost:5050/metricsx", body: body, status: 404, text: "404 page not found"},
		{why: "no run", method: "POST", url: "http://localhost:5050/metrics/guessed", body: body, status: 404, text: "there is no such run, or it has ended"},
		{why: "a name that was made to point here (AO 10.5)", method: "POST", url: "http://evil.example.com:5050/metrics", body: body, status: 403, text: "this is for playbooks, not for browsers"},
		{why: "a page in a browser", method: "POST", url: "http://localhost:5050/metrics", body: body, origin: "http://evil.example.com", status: 403, text: "this is for playbooks, not for browsers"},
		{why: "a large body", method: "POST", url: "http://localhost:5050/metrics", body: strings.Repeat(" ", maxBody) + body, status: 413, text: "a request may have 16384 bytes at most"},
	}
	s := newStage(t)
	for _, tt := range tests {
		request := httptest.NewRequest(tt.method, tt.url, strings.NewReader(tt.body))
		if tt.origin != "" {
			request.Header.Set("Origin", tt.origin)
		}
		answer := httptest.NewRecorder()
		s.endpoint.ServeHTTP(answer, request)
		if text := strings.TrimSpace(answer.Body.String()); answer.Code != tt.status || text != tt.text {
			t.Errorf("%s: answer is %d %q, want %d %q", tt.why, answer.Code, text, tt.status, tt.text)
		}
	}
}

// TestServing sends reports by the network, to each address that localhost may stand for.
func TestServing(t *testing.T) {
	s := newStage(t)
	if err := s.endpoint.Fallback(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.endpoint.Start(ctx) }()
	for _, listener := range s.endpoint.listeners {
		answer, err := http.Post("http://"+listener.Addr().String()+"/metrics", "application/json", strings.NewReader(`{"name":"a","counter":{"increment":true}}`))
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %v %v", listener.Addr(), answer, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if page := s.page(); len(page) != 1 {
		t.Errorf("the page is %v", page)
	}
}

// TestTakenPort: the run goes on, and runs have a URL all the same.
func TestTakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s := newStage(t)
	e, err := New(Config{Store: s.store, Address: taken.Addr().String(), NewToken: func() string { return "t" }, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.listeners[0].Close()
	if fallback := e.Fallback(); fallback == nil || !strings.Contains(fallback.Error(), "address already in use") {
		t.Errorf("cause is %v", fallback)
	}
	if strings.Contains(e.URL(), taken.Addr().String()) || !strings.HasPrefix(e.URL(), "http://127.0.0.1:") {
		t.Errorf("URL is %s", e.URL())
	}
}
