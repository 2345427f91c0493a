package kube

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/pki"
)

// serve runs an API server of one handler and gives a client for it.
func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	client, err := New(server.URL, certificate(server), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func certificate(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func answer(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

func TestFailuresKeepTheirKindAndMessage(t *testing.T) {
	for _, row := range []struct {
		code int
		want error
	}{{http.StatusNotFound, ErrNotFound}, {http.StatusConflict, ErrExists}, {http.StatusForbidden, nil}} {
		client := serve(t, answer(row.code, `{"kind":"Status","message":"because"}`))
		err := client.Get(t.Context(), "/x", nil)
		if err == nil || !strings.Contains(err.Error(), "because") || (row.want != nil && !errors.Is(err, row.want)) {
			t.Errorf("%d: got %v, want %v", row.code, err, row.want)
		}
	}
}

func TestCreateIsContentWithWhatIsThere(t *testing.T) {
	if err := serve(t, answer(http.StatusConflict, "")).Create(t.Context(), "/x", map[string]any{}); err != nil {
		t.Error(err)
	}
	if err := serve(t, answer(http.StatusForbidden, "")).Create(t.Context(), "/x", map[string]any{}); err == nil {
		t.Error("a refusal was taken for success")
	}
}

func TestNodesReady(t *testing.T) {
	ready := `{"metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`
	for _, row := range []struct {
		why, nodes string
		want       int
		ok         bool
	}{
		{"all are there", ready, 1, true},
		{"more than asked for do no harm", ready + "," + ready, 1, true},
		{"one is missing", ready, 2, false},
		{"one has no condition yet", `{"metadata":{"name":"a"}}`, 1, false},
		{"one is not ready", `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, 1, false},
		{"a taint still keeps Pods away", strings.Replace(ready, `"status"`, `"spec":{"taints":[{"key":"t"}]},"status"`, 1), 1, false},
	} {
		client := serve(t, answer(http.StatusOK, `{"items":[`+row.nodes+`]}`))
		if err := client.NodesReady(t.Context(), row.want); (err == nil) != row.ok {
			t.Errorf("%s: got %v", row.why, err)
		}
	}
}

func TestPollEndsWithTheCauseAndTheLastFailure(t *testing.T) {
	cause, last := errors.New("too late"), errors.New("not yet")
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	err := Poll(ctx, time.Microsecond, func(context.Context) error {
		if calls++; calls == 3 {
			defer cancel(cause)
		}
		return last
	})
	if !errors.Is(err, cause) || !errors.Is(err, last) || calls != 3 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}

func TestFromKubeconfig(t *testing.T) {
	server := httptest.NewTLSServer(answer(http.StatusOK, "{}"))
	defer server.Close()
	authority, err := pki.NewAuthority("clients", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	admin, err := authority.Client("admin")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, pki.Kubeconfig(server.URL, certificate(server), admin), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := FromKubeconfig(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.ServerReady(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("apiVersion: v1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FromKubeconfig(path); err == nil || !strings.Contains(err.Error(), "certificate-authority-data") {
		t.Errorf("got %v, want the missing key", err)
	}
}

func TestTokenReplacesTheCertificate(t *testing.T) {
	client := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer secret" {
			t.Errorf("got the header %q", got)
		}
	})
	if err := client.WithToken("secret").Do(t.Context(), http.MethodPost, "/x", map[string]any{}, nil); err != nil {
		t.Error(err)
	}
}
