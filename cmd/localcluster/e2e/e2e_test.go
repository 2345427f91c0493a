// Package e2e proves the promises of localcluster on the real binary.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/kube"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
)

// patience is how long anything may take on a busy machine. It is no measure of what is normal.
const patience = 3 * time.Minute

// binary is what is tested.
var binary string

func TestMain(m *testing.M) {
	path, err := build()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot build localcluster:", err)
		os.Exit(1)
	}
	binary = path
	os.Exit(m.Run())
}

// build takes the binary that LOCALCLUSTER_BIN names, and builds one into the user's cache if there is none.
func build() (string, error) {
	if path := os.Getenv("LOCALCLUSTER_BIN"); path != "" {
		return filepath.Abs(path)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "chartbook", "localcluster")
	command := exec.Command("../build.sh", path)
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	return path, command.Run()
}

// cluster is one directory with a cluster that a test uses.
type cluster struct {
	dir layout.Dir
}

// newCluster makes sure that nothing is left of the cluster after the test, whatever became of it.
func newCluster(t *testing.T) cluster {
	t.Helper()
	dir, err := layout.At(filepath.Join(t.TempDir(), "cluster"))
	if err != nil {
		t.Fatal(err)
	}
	c := cluster{dir: dir}
	t.Cleanup(func() {
		if t.Failed() {
			for _, log := range c.logs() {
				t.Log(log)
			}
		}
		_ = exec.Command(binary, "down", "--dir", string(dir)).Run()
	})
	return c
}

// call runs a command on the cluster and gives its exit code and all it printed.
func (c cluster) call(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var output bytes.Buffer
	command := exec.Command(binary, append(args, "--dir", string(c.dir))...)
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("cannot run %v: %v", args, err)
	}
	return command.ProcessState.ExitCode(), output.String()
}

// must runs a command that has to succeed.
func (c cluster) must(t *testing.T, args ...string) string {
	t.Helper()
	code, output := c.call(t, args...)
	if code != 0 {
		t.Fatalf("%v: exit code %d:\n%s", args, code, output)
	}
	return output
}

func (c cluster) up(t *testing.T, args ...string) string {
	t.Helper()
	return c.must(t, append([]string{"up", "--wait", patience.String()}, args...)...)
}

func (c cluster) client(t *testing.T) *kube.Client {
	t.Helper()
	client, err := kube.FromKubeconfig(c.dir.Path(layout.Kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (c cluster) status(t *testing.T) layout.Status {
	t.Helper()
	status, err := layout.ReadStatus(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// processes are the command lines of all processes of the machine that mention the directory.
func (c cluster) processes() []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		raw, _ := os.ReadFile(file)
		if bytes.Contains(raw, []byte(c.dir)) && filepath.Base(filepath.Dir(file)) != strconv.Itoa(os.Getpid()) {
			found = append(found, strings.ReplaceAll(string(raw), "\x00", " "))
		}
	}
	return found
}

// leavesNoProcess waits until no process of the cluster is left.
func (c cluster) leavesNoProcess(t *testing.T) {
	t.Helper()
	eventually(t, func(context.Context) error {
		if left := c.processes(); len(left) > 0 {
			return fmt.Errorf("%d processes are left, first %s", len(left), left[0])
		}
		return nil
	})
}

func (c cluster) leavesNoFile(t *testing.T) {
	t.Helper()
	if _, err := os.Lstat(string(c.dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}

// logs are the last lines of every log, for a test that failed.
func (c cluster) logs() []string {
	var all []string
	files, _ := filepath.Glob(c.dir.Path(layout.Logs, "*.log"))
	for _, file := range files {
		raw, _ := os.ReadFile(file)
		all = append(all, file+":\n"+string(raw[max(0, len(raw)-2000):]))
	}
	return all
}

// eventually waits for a check to pass.
func eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("waited in vain"))
	defer cancel()
	if err := kube.Poll(ctx, 100*time.Millisecond, check); err != nil {
		t.Fatal(err)
	}
}
