package ocichart

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/registry"
)

// fakeRegistry is a registry on loopback that holds one chart and lets in one user.
type fakeRegistry struct {
	user, password string
	blobs          map[string][]byte
	digest         string // of the manifest

	mu       sync.Mutex
	requests int
}

// startRegistry serves a chart as charts/web.
func startRegistry(t *testing.T, user, password string) (*fakeRegistry, string) {
	t.Helper()
	r := &fakeRegistry{user: user, password: password, blobs: map[string][]byte{}}
	archive, err := chartutil.Save(&chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"}}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	config := []byte(`{"name":"web","version":"1.0.0","apiVersion":"v2"}`)
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": r.add(registry.ConfigMediaType, config),
		"layers": []any{r.add(registry.ChartLayerMediaType, data)},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.add("", manifest)
	r.digest = sum(manifest)
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, "oci://" + strings.TrimPrefix(server.URL, "http://") + "/charts/web"
}

// add keeps a blob and describes it.
func (r *fakeRegistry) add(mediaType string, data []byte) map[string]any {
	r.blobs[sum(data)] = data
	return map[string]any{"mediaType": mediaType, "digest": sum(data), "size": len(data)}
}

func (r *fakeRegistry) asked() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// ServeHTTP answers as the distribution specification says, as far as a pull goes.
func (r *fakeRegistry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	r.requests++
	r.mu.Unlock()
	if user, password, _ := request.BasicAuth(); r.user != "" && (user != r.user || password != r.password) {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	digest := request.URL.Path[strings.LastIndex(request.URL.Path, "/")+1:]
	data, ok := r.blobs[digest]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if strings.Contains(request.URL.Path, "/manifests/") {
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
	}
	w.Header().Set("Docker-Content-Digest", digest)
	if _, err := w.Write(data); err != nil && request.Method != http.MethodHead {
		w.WriteHeader(http.StatusInternalServerError)
	}
}
