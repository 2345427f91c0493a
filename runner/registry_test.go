package runner_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/registry"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// chartRegistry serves the chart in a directory to those who know the password. It returns the chart's address, and
// counts the requests.
func chartRegistry(t *testing.T, dir, user, password string) (address string, requests *atomic.Int32) {
	t.Helper()
	c, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := chartutil.Save(c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	blobs := map[string][]byte{}
	add := func(mediaType string, data []byte) map[string]any {
		sum := sha256.Sum256(data)
		digest := "sha256:" + hex.EncodeToString(sum[:])
		blobs[digest] = data
		return map[string]any{"mediaType": mediaType, "digest": digest, "size": len(data)}
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": add(registry.ConfigMediaType, []byte(`{"name":"thing","version":"0.1.0","apiVersion":"v2"}`)),
		"layers": []any{add(registry.ChartLayerMediaType, data)},
	})
	if err != nil {
		t.Fatal(err)
	}
	digest := add("", manifest)["digest"]
	requests = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if u, p, _ := r.BasicAuth(); u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		blob, ok := blobs[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if strings.Contains(r.URL.Path, "/manifests/") {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		}
		_, _ = w.Write(blob) // a client that went away says so itself
	}))
	t.Cleanup(server.Close)
	return fmt.Sprintf("oci://%s/charts/thing@%s", strings.TrimPrefix(server.URL, "http://"), digest), requests
}

// A chart comes from a registry once, when the Secret that opens it is there.
func TestChartFromARegistry(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), chart)
	address, requests := chartRegistry(t, filepath.Join(o.dir, "chart"), "robot", "hunter2")
	o.write("watches.yaml", fmt.Sprintf("- group: %s\n  version: v1\n  kind: Thing\n  chart: %s\n  chartPullSecret: {name: registry, namespace: NAMESPACE}\n", gvk.Group, address))
	cache := t.TempDir()
	withCache := func(options *runner.Options) { options.ChartCache = cache }
	o.start(withCache)
	thing := o.create(gvk, "thing", map[string]any{"message": "fetched"})
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		c, err := testkit.Condition(obj, "Ready")
		if err == nil && (c["reason"] != "ChartUnavailable" || !strings.Contains(fmt.Sprint(c["message"]), "registry")) {
			err = fmt.Errorf("Ready is %v", c)
		}
		return err
	})
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "oci://"), "/")
	config := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, base64.StdEncoding.EncodeToString([]byte("robot:hunter2")))
	o.create(secrets, "registry", nil, func(obj *unstructured.Unstructured) {
		delete(obj.Object, "spec")
		obj.Object["type"] = "kubernetes.io/dockerconfigjson"
		obj.Object["stringData"] = map[string]any{".dockerconfigjson": config}
	})
	o.eventually(configMaps, "thing", message("fetched"))
	o.eventually(gvk, "thing", ready)
	asked := requests.Load()
	o.create(gvk, "other", map[string]any{"message": "the same"})
	o.eventually(configMaps, "other", message("the same"))
	o.stop()
	o.start(withCache)
	o.edit(thing, set("after a restart", "spec", "message"))
	o.eventually(configMaps, "thing", message("after a restart"))
	if again := requests.Load() - asked; again != 0 {
		t.Errorf("the registry was asked %d times more", again)
	}
	if strings.Contains(o.log.text(), "hunter2") {
		t.Error("the log has the password")
	}
	testkit.Eventually(t, soon, func(ctx context.Context) error {
		n, err := o.revisions(ctx, "thing")
		if err == nil && n != 2 {
			err = fmt.Errorf("%d revisions", n)
		}
		return err
	})
}
