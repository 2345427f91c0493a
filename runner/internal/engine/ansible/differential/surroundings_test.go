package differential

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// surroundings is what a project needs beside its files. What is in it differs from run to run.
type surroundings struct {
	kubeconfig []byte
	inputs     map[string]any
}

// surround makes what a project asks for. It goes away at the end of the test.
func surround(t *testing.T, p project) surroundings {
	t.Helper()
	with := surroundings{inputs: map[string]any{}}
	if p.Cluster {
		kubeconfig, err := os.ReadFile(testkit.Kubeconfig(t))
		if err != nil {
			t.Fatal(err)
		}
		config := testkit.Cluster(t)
		with.kubeconfig = kubeconfig
		with.inputs["namespace"] = testkit.Namespace(t, testkit.Client(t, config))
		with.inputs["server"] = config.Host
		with.inputs["ca"] = base64.StdEncoding.EncodeToString(config.CAData)
	}
	if p.Web {
		server := httptest.NewServer(http.HandlerFunc(answer))
		t.Cleanup(server.Close)
		with.inputs["web"] = server.URL
	}
	return with
}

// answer is a web server that says what it was asked.
func answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"method": "` + r.Method + `", "agent": "` + r.UserAgent() + `"}`))
}

// constants returns what differs between runs because it was made for one, with the name that takes its place.
func (l *lane) constants(job engine.Job, with surroundings) map[string]string {
	found := map[string]string{job.ID: "run", l.dir: "lane"}
	for name, value := range with.inputs {
		if text, ok := value.(string); ok {
			found[text] = name
		}
	}
	return found
}
