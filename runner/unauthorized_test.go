package runner_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// "Unauthorized" alone does not tell what to do.
func TestRefusedCredentialsAreExplained(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`)
	}))
	defer server.Close()
	o := &operator{t: t, dir: t.TempDir(), log: &lines{}, config: &rest.Config{Host: server.URL}}
	o.write("watches.yaml", "- {group: example.com, version: v1, kind: A, chart: "+filepath.Join(o.dir, "chart")+"}\n")
	o.write("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 0.1.0\n")
	o.start(func(options *runner.Options) { options.Namespaces = nil })
	testkit.Eventually(t, soon, func(context.Context) error {
		if o.log.count("Waiting for a kind", "Unauthorized", "renew the token") == 0 {
			return fmt.Errorf("not told yet")
		}
		return nil
	})
}
