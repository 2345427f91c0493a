package testkit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ClusterDirEnv names the directory of the control plane that all test processes share.
const ClusterDirEnv = "CHARTBOOK_TEST_CLUSTER"

// startTimeout bounds the start of a control plane, on a machine that builds other tests at the same time.
const startTimeout = 3 * time.Minute

// shared is the control plane that one test process starts when none is shared with it.
var shared struct {
	sync.Once
	dir string
	err error
}

// Cluster returns the configuration of an administrator of the shared control plane.
func Cluster(tb testing.TB) *rest.Config {
	tb.Helper()
	return load(tb, clusterDir(tb))
}

// Kubeconfig returns the path of the shared control plane's kubeconfig.
func Kubeconfig(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(clusterDir(tb), "kubeconfig")
}

func clusterDir(tb testing.TB) string {
	tb.Helper()
	skipShort(tb)
	if dir := os.Getenv(ClusterDirEnv); dir != "" {
		return dir
	}
	shared.Do(func() { shared.dir, shared.err = startShared() })
	if shared.err != nil {
		tb.Fatalf("start a control plane: %v", shared.err)
	}
	return shared.dir
}

// skipShort leaves out a test that needs a control plane when only quick tests are asked for (`make test-unit`).
func skipShort(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs a control plane")
	}
}

// startShared starts a control plane that ends with this process: nothing else can end it, since no test knows
// whether it is the last one.
func startShared() (string, error) {
	dir, err := os.MkdirTemp("", "chartbook-test-cluster-")
	if err != nil {
		return "", fmt.Errorf("make a directory for the control plane: %w", err)
	}
	bin, err := localcluster()
	if err != nil {
		return "", err
	}
	child := exec.Command(bin, "run", "--with-parent", "--dir", dir)
	if err := child.Start(); err != nil {
		return "", fmt.Errorf("start %s: %w", bin, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	return dir, waitHealthy(ctx, bin, dir)
}

func waitHealthy(ctx context.Context, bin, dir string) error {
	for {
		out, err := exec.CommandContext(ctx, bin, "status", "--dir", dir).CombinedOutput()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("control plane in %s is not healthy after %s: %s", dir, startTimeout, out)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Private is a control plane of one test's own, for tests that disturb it.
type Private struct {
	Dir string
	bin string
}

// NewPrivate starts a control plane and takes it down when the test ends.
func NewPrivate(tb testing.TB) *Private {
	tb.Helper()
	skipShort(tb)
	bin, err := localcluster()
	if err != nil {
		tb.Fatal(err)
	}
	p := &Private{Dir: tb.TempDir(), bin: bin}
	tb.Cleanup(func() { p.call(tb, "down") })
	p.call(tb, "up", "--wait", startTimeout.String())
	return p
}

// Config returns the configuration of an administrator.
func (p *Private) Config(tb testing.TB) *rest.Config { tb.Helper(); return load(tb, p.Dir) }

// Kubeconfig returns the path of the kubeconfig.
func (p *Private) Kubeconfig() string { return filepath.Join(p.Dir, "kubeconfig") }

// RestartAPIServer kills the API server and starts it again on the same port.
func (p *Private) RestartAPIServer(tb testing.TB) { tb.Helper(); p.call(tb, "restart", "apiserver") }

func (p *Private) call(tb testing.TB, verb string, args ...string) {
	tb.Helper()
	args = append([]string{verb, "--dir", p.Dir}, args...)
	if out, err := exec.Command(p.bin, args...).CombinedOutput(); err != nil {
		tb.Errorf("localcluster %v: %v\n%s", args, err, out)
	}
}

func load(tb testing.TB, dir string) *rest.Config {
	tb.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	if err != nil {
		tb.Fatalf("read the control plane's kubeconfig: %v", err)
	}
	config.QPS = -1 // the API server's own limits are enough
	return config
}

// localcluster returns the path of the control plane's binary, which `make localcluster` builds.
func localcluster() (string, error) {
	if bin := os.Getenv("LOCALCLUSTER_BIN"); bin != "" {
		return bin, nil
	}
	bin := filepath.Join(RepoRoot(), "bin", "localcluster")
	if _, err := os.Stat(bin); err != nil {
		return "", fmt.Errorf("bin/localcluster is missing; run `make localcluster` once: %w", err)
	}
	return bin, nil
}
