package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ask sends one request to the handler and returns status and body.
func ask(handler http.Handler, method, path, body string) (int, string) {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(method, path, strings.NewReader(body)))
	return recorder.Code, strings.TrimSpace(recorder.Body.String())
}

func TestStoreStory(t *testing.T) {
	handler := newStore(nil, time.Now).handler()
	// Each request depends on those before it.
	for _, step := range []struct {
		reason             string
		method, path, body string
		status             int
		answer             string
	}{
		{"there is nothing at first", "GET", "/store/buckets/b", "", 404, ""},
		{"what is not there cannot be removed, which playbooks take for done", "DELETE", "/store/buckets/b", "", 404, ""},
		{"the first time makes it", "PUT", "/store/buckets/b", "", 201, `{"changed":true}`},
		{"the second time changes nothing", "PUT", "/store/buckets/b", "", 200, `{"changed":false}`},
		{"now it is there, by the digest of nothing", "GET", "/store/buckets/b", "", 200,
			`{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}`},
		{"it can be removed", "DELETE", "/store/buckets/b", "", 204, ""},
		{"a secret has a namespace", "PUT", "/store/secrets/ns/s", "one", 201, `{"changed":true}`},
		{"other content is a change", "PUT", "/store/secrets/ns/s", "two", 200, `{"changed":true}`},
		{"in another namespace is another secret", "GET", "/store/secrets/other/s", "", 404, ""},
		{"content has a limit", "PUT", "/store/secrets/ns/big", strings.Repeat("x", maxBody+1), 413, ""},
		{"leave is given for what there is", "GET", "/training/quota?namespace=ns&gpus=8", "", 200, `{"allowed":true}`},
		{"and not for more", "GET", "/training/quota?namespace=ns&gpus=9", "", 200, `{"allowed":false,"message":"there are 8 GPUs"}`},
		{"a number is a number", "GET", "/training/quota?gpus=many", "", 400, ""},
		{"nothing else is served", "GET", "/", "", 404, "404 page not found"},
	} {
		status, answer := ask(handler, step.method, step.path, step.body)
		if diff := cmp.Diff([]any{step.status, step.answer}, []any{status, answer}); diff != "" {
			t.Errorf("%s %s: %s (-want +got):\n%s", step.method, step.path, step.reason, diff)
		}
	}
}

func TestStoreRemembersRequestsNotSecrets(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s := newStore(nil, func() time.Time { return now })
	told := 0
	s.onChange(func() { told++ })
	ask(s.handler(), "PUT", "/store/secrets/ns/s", "swordfish")
	got, ok := s.seen("PUT", "/store/secrets/ns/s")
	want := request{At: now, Method: "PUT", Path: "/store/secrets/ns/s", Status: 201}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if _, ok := s.seen("DELETE", "/store/secrets/ns/s"); ok {
		t.Error("remembers a request that nobody made")
	}
	if told != 1 {
		t.Errorf("told of %d requests, want 1", told)
	}
	for path, digest := range s.snapshot() {
		if strings.Contains(path+digest, "swordfish") {
			t.Error("the secret itself is kept")
		}
	}
}

func TestStoreIsBounded(t *testing.T) {
	s := newStore(nil, time.Now)
	handler := s.handler()
	for i := range maxObjects {
		ask(handler, "PUT", "/store/buckets/"+strconv.Itoa(i), "")
	}
	if status, _ := ask(handler, "PUT", "/store/buckets/one-more", ""); status != http.StatusInsufficientStorage {
		t.Errorf("one more than the limit: status %d", status)
	}
	if n := len(s.requests); n != maxRequests {
		t.Errorf("%d requests are remembered, want %d", n, maxRequests)
	}
}
