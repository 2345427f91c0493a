package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// soon is how long something may take that should take a fraction of a second, on a machine with other work.
const soon = time.Minute

func TestKubeconfig(t *testing.T) {
	s := newFakeStage(t, func(http.ResponseWriter, *http.Request) {})
	first, second := s.open(t, owner("a", "x")), s.open(t, owner("b", "y"))
	text := must(first.Kubeconfig())
	config := must(clientcmd.Load(text))

	if got, want := config.CurrentContext, "a/proxy-server"; got != want {
		t.Errorf("the context is %q, want %q", got, want)
	}
	context := config.Contexts[config.CurrentContext]
	if context.Cluster != "proxy-server" || context.AuthInfo != "admin/proxy-server" || context.Namespace != "" {
		t.Errorf("the context is %+v, want the old tool's names and no namespace", context)
	}
	if got := config.Clusters["proxy-server"]; got.Server != s.URL() || got.InsecureSkipTLSVerify || len(got.CertificateAuthorityData) == 0 {
		t.Errorf("the cluster is %+v, want %s with a certificate to check it by", got, s.URL())
	}
	if a, b := through(t, first), through(t, second); a.Host != b.Host || a.BearerToken == b.BearerToken {
		t.Error("two runs must share the address, for the sake of discovery caches keyed by it, and not the token")
	}
	if n := len(through(t, first).BearerToken); n < 43 {
		t.Errorf("the token has %d characters, want 256 bits' worth", n)
	}
	if !json.Valid(text) || len(text) > 1500 || strings.Contains(string(text), "preferences") {
		t.Errorf("want it small and without blocks, since every module parses it in Python:\n%s", text)
	}
}

func TestReport(t *testing.T) {
	s := newFakeStage(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/secrets/s") {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","code":403,"message":"secrets \"s\" is forbidden: User \"u\" cannot get resource \"secrets\" in API group \"\" in the namespace \"a\""}`)
			return
		}
		fmt.Fprint(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","namespace":"a","uid":"u2","resourceVersion":"5",
			"ownerReferences":[{"apiVersion":"proxy.example.com/v1","kind":"App","name":"x","uid":"uid-1"}]}}`)
	})
	session := s.open(t, owner("a", "x"))
	client := httpThrough(t, session)
	for _, req := range []struct{ method, path string }{
		{http.MethodGet, "/api/v1/namespaces/a/configmaps/c"},
		{http.MethodPatch, "/api/v1/namespaces/a/configmaps/c"},
		{http.MethodGet, "/api/v1/namespaces/a/secrets/s"},
		{http.MethodGet, "/api/v1/namespaces/a/secrets/s"},
	} {
		r := must(http.NewRequestWithContext(t.Context(), req.method, s.URL()+req.path, nil))
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	got := session.Close()
	configMap := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	want := proxy.Report{
		Requests: 4,
		Writes:   []engine.Write{{GVK: configMap, Namespace: "a", Name: "c", UID: "u2", ResourceVersion: "5"}},
		Denials: []engine.Denial{{
			Verb: "get", Resource: "secrets", Namespace: "a", Name: "s",
			Message: `secrets "s" is forbidden: User "u" cannot get resource "secrets" in API group "" in the namespace "a"`,
		}},
		Kinds: []schema.GroupVersionKind{configMap},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the report (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, session.Close()); diff != "" {
		t.Errorf("the report when asked again (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"App > ConfigMap"}, s.children.list()); diff != "" {
		t.Errorf("watched kinds (-want +got):\n%s", diff)
	}
}

// TestCloseBreaksOff closes a session with an answer under way that would never end, to a client that does not read.
func TestCloseBreaksOff(t *testing.T) {
	gone := make(chan error, 1)
	s := newFakeStage(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				break
			}
		}
		gone <- errors.New("ended")
	})
	session := s.open(t, owner("a", "x"))
	get(t, httpThrough(t, session), s.URL()+"/api/v1/namespaces/a/pods/p/log?follow=true")

	closed := make(chan struct{})
	go func() { session.Close(); close(closed) }()
	for name, c := range map[string]func() bool{
		"Close returns":             func() bool { return arrives(closed) },
		"the API server is told so": func() bool { return arrives(gone) },
	} {
		if !c() {
			t.Errorf("it is not so after %s: %s", soon, name)
		}
	}
}

func arrives[T any](c <-chan T) bool {
	select {
	case <-c:
		return true
	case <-time.After(soon):
		return false
	}
}

// TestNothingIsLeft opens and closes 200 sessions, each with a stream that is broken off.
// Covers UP B4.
func TestNothingIsLeft(t *testing.T) {
	s := newFakeStage(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		if r.URL.Query().Has("watch") {
			<-r.Context().Done()
		}
	})
	one := func() {
		session, err := s.Open(owner("a", "x"))
		if err != nil {
			t.Fatal(err)
		}
		client := httpThrough(t, session)
		_, list := get(t, client, s.URL()+"/api/v1/pods")
		_ = list.Close()
		_, stream := get(t, client, s.URL()+"/api/v1/pods?watch=true")
		session.Close()
		_ = stream.Close()
		client.CloseIdleConnections()
	}
	one()
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	for range 200 {
		one()
	}
	testkit.Eventually(t, soon, func(context.Context) error {
		if g, f := runtime.NumGoroutine(), openFiles(t); g > goroutines+20 || f > files+20 {
			return fmt.Errorf("goroutines went from %d to %d, open files from %d to %d", goroutines, g, files, f)
		}
		return nil
	})
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("open files cannot be counted here")
	}
	return len(entries)
}
