package proxy_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
)

// freePort returns a port on loopback that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener := must(net.Listen("tcp4", "127.0.0.1:0"))
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// TestSidecarPort covers what a sidecar written for the old tool does, and AO 10.5: it is off unless it is asked for, no
// user name makes an owner, and no web page gets in under a name of its own.
func TestSidecarPort(t *testing.T) {
	port := freePort(t)
	var mu sync.Mutex
	var lines []string
	log := funcr.New(func(_, args string) { mu.Lock(); defer mu.Unlock(); lines = append(lines, args) }, funcr.Options{})
	s := newRealStage(t, func(c *proxy.Config) { c.SidecarPort, c.Log = port, log })
	url := fmt.Sprint("http://127.0.0.1:", port)
	if s.SidecarURL() != url {
		t.Errorf("the address is %s, want %s", s.SidecarURL(), url)
	}
	app := s.app(t, "x")
	user := base64.StdEncoding.EncodeToString(must(json.Marshal(map[string]string{
		"apiVersion": app.APIVersion, "kind": app.Kind, "name": app.Name, "namespace": app.Namespace, "uid": string(app.UID),
	})))
	for name, config := range map[string]*rest.Config{
		"anonymous": {Host: url}, "by-localhost": {Host: fmt.Sprint("http://localhost:", port)},
		"old-kubeconfig": {Host: url, Username: user, Password: "unused"},
	} {
		t.Run(name, func(t *testing.T) {
			config.ContentType = "application/json"
			maps := must(kubernetes.NewForConfig(config)).CoreV1().ConfigMaps(s.namespace)
			got, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.OwnerReferences)+len(got.Annotations) != 0 {
				t.Errorf("references %v and annotations %v, want no owner", got.OwnerReferences, got.Annotations)
			}
			must(maps.List(t.Context(), metav1.ListOptions{}))
		})
	}
	req := must(http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/v1/namespaces/"+s.namespace+"/configmaps", bytes.NewBufferString("{}")))
	req.Host = fmt.Sprint("evil.example.com:", port)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("another host name gets %d, want to be refused", resp.StatusCode)
	}
	if n := s.children.list(); len(n) != 0 {
		t.Errorf("kinds %v are watched, want none", n)
	}
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(strings.Join(lines, "\n"), "operator's rights"); n != 1 {
		t.Errorf("the log warns %d times, want once:\n%s", n, strings.Join(lines, "\n"))
	}
}

// TestNoSidecarPort has a proxy that nobody asked for such a port: it has one address only.
func TestNoSidecarPort(t *testing.T) {
	s := newFakeStage(t, func(http.ResponseWriter, *http.Request) {})
	if url := s.SidecarURL(); url != "" {
		t.Errorf("there is a port for everybody at %s", url)
	}
}
