package proxy_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
)

// Covers AO 10.5 no. 1.
func TestWhoIsLetIn(t *testing.T) {
	s := newFakeStage(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "passed") })
	session, closed := s.open(t, owner("a", "x")), s.open(t, owner("a", "y"))
	good, old := "Bearer "+through(t, session).BearerToken, "Bearer "+through(t, closed).BearerToken
	closed.Close()
	client := httpThrough(t, session)
	client.Transport = stripAuth(t, session)
	for _, tc := range []struct {
		why, auth, host string
		want            int
	}{
		{why: "a session's token", auth: good, want: http.StatusOK},
		{why: "no token (C13)", want: http.StatusUnauthorized},
		{why: "a token that nobody gave out", auth: "Bearer guess", want: http.StatusUnauthorized},
		{why: "the token of a run that is over", auth: old, want: http.StatusUnauthorized},
		{why: "the owner's name is no token, as it was in the old tool", auth: "Basic eyJuYW1lIjoieCJ9OnVudXNlZA==", want: http.StatusUnauthorized},
		{why: "a web page that was led here under its own name", auth: good, host: "evil.example.com", want: http.StatusMisdirectedRequest},
		{why: "another name of loopback", auth: good, host: strings.Replace(strings.TrimPrefix(s.URL(), "https://"), "127.0.0.1", "localhost", 1), want: http.StatusOK},
	} {
		t.Run(tc.why, func(t *testing.T) {
			req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/version", nil))
			req.Header.Set("Authorization", tc.auth)
			if tc.host != "" {
				req.Host = tc.host
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tc.want {
				t.Errorf("status %d, want %d", resp.StatusCode, tc.want)
			}
			if tc.want == http.StatusOK {
				return
			}
			var status metav1.Status
			if err := json.NewDecoder(resp.Body).Decode(&status); err != nil {
				t.Fatal(err)
			}
			if status.Kind != "Status" || int(status.Code) != tc.want {
				t.Errorf("the answer is %v, want a Status as the API server gives", status)
			}
		})
	}
}

// stripAuth returns a transport that trusts the proxy but brings no token of its own.
func stripAuth(t *testing.T, session *proxy.Session) http.RoundTripper {
	t.Helper()
	config := through(t, session)
	config.BearerToken = ""
	return must(rest.TransportFor(config))
}

func TestWhatPasses(t *testing.T) {
	type seen struct {
		URI, Auth, Accept, Impersonate, Agent string
	}
	s := newFakeStage(t, func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(seen{
			URI: r.RequestURI, Auth: r.Header.Get("Authorization"), Accept: r.Header.Get("Accept"),
			Impersonate: r.Header.Get("Impersonate-User"), Agent: r.UserAgent(),
		})
	})
	client := httpThrough(t, s.open(t, owner("a", "x")))
	const uri = "/api/v1/namespaces/a/pods?labelSelector=role+in+%28a%2Cb%29&limit=1&continue=abc%2F&resourceVersion=9"
	req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+uri, nil))
	req.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	req.Header.Set("Impersonate-User", "lesser")
	req.Header.Set("User-Agent", "play/1")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got seen
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := seen{
		URI: uri, Auth: "Bearer operator", Accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
		Impersonate: "lesser", // dropping it would give a playbook more rights than it asked for
		Agent:       "play/1", // from which the API server takes the field manager
	}
	if got != want {
		t.Errorf("the API server sees\n%+v, want\n%+v", got, want)
	}
}

func TestImpersonatedProxyActsForNobodyElse(t *testing.T) {
	limited := newFakeStage(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header.Get("Impersonate-User"))
	}, func(c *proxy.Config) { c.RESTConfig.Impersonate.UserName = "tenant" })
	client := httpThrough(t, limited.open(t, owner("a", "x")))
	for name, want := range map[string]int{"": http.StatusOK, "Impersonate-User": http.StatusForbidden, "Impersonate-Extra-Scopes": http.StatusForbidden} {
		req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, limited.URL()+"/version", nil))
		if name != "" {
			req.Header.Set(name, "admin")
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body := must(io.ReadAll(resp.Body))
		_ = resp.Body.Close()
		if resp.StatusCode != want || (want == http.StatusOK && string(body) != "tenant") {
			t.Errorf("with %q: status %d and %q, want %d", name, resp.StatusCode, body, want)
		}
	}
}

// TestStreamsAreNotHeldBack reads each line of an endless answer before the next one is written.
// Covers AO 10.3 no. 7.
func TestStreamsAreNotHeldBack(t *testing.T) {
	next := make(chan string)
	s := newFakeStage(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json;stream=watch")
		w.(http.Flusher).Flush()
		for line := range next {
			fmt.Fprintln(w, line)
			w.(http.Flusher).Flush()
		}
	})
	client := httpThrough(t, s.open(t, owner("a", "x")))
	_, stream := get(t, client, s.URL()+"/api/v1/pods?watch=true&fieldSelector=metadata.name%3Dp0")
	lines := bufio.NewScanner(stream)
	for _, line := range []string{"one", "two", "three"} {
		next <- line
		if !lines.Scan() || lines.Text() != line {
			t.Fatalf("read %q (%v), want %q", lines.Text(), lines.Err(), line)
		}
	}
	close(next)
}

// get returns the status and body of an answer. The body is closed at the end of the test at the latest.
func get(t *testing.T, client *http.Client, url string) (int, io.ReadCloser) {
	t.Helper()
	req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.StatusCode, resp.Body
}

func TestUnreachableAPIServer(t *testing.T) {
	s := newStage(t, &rest.Config{Host: "http://127.0.0.1:1"})
	client := httpThrough(t, s.open(t, owner("a", "x")))
	code, body := get(t, client, s.URL()+"/version")
	var status metav1.Status
	if err := json.NewDecoder(body).Decode(&status); err != nil {
		t.Fatal(err)
	}
	if code != http.StatusServiceUnavailable || !strings.Contains(status.Message, "cannot be reached") {
		t.Errorf("status %d and %q, want 503 and the cause", code, status.Message)
	}
}

func TestPortInUse(t *testing.T) {
	s := newFakeStage(t, func(http.ResponseWriter, *http.Request) {})
	var port int
	if _, err := fmt.Sscanf(s.URL(), "https://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	_, err := proxy.New(proxy.Config{RESTConfig: &rest.Config{}, Port: port})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("the error is %v, want one that says that the port is taken", err)
	}
}
