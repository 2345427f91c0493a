package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
)

// TestKilledSupervisor runs beside TestCluster, which proves that two clusters get along.
func TestKilledSupervisor(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.up(t)
	client := c.client(t)
	create(t, c, "/api/v1/namespaces", object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "old"}})
	if err := syscall.Kill(c.status(t).Supervisor.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.leavesNoProcess(t)
	if err := client.ServerReady(t.Context()); err == nil {
		t.Error("the API server still answers")
	}
	if code, output := c.call(t, "status"); code != 1 || !strings.Contains(output, "supervisor was killed") {
		t.Errorf("status: exit code %d:\n%s", code, output)
	}

	c.up(t)
	if err := c.client(t).Get(t.Context(), "/api/v1/namespaces/old", nil); err == nil {
		t.Error("the new cluster has the data of the old one")
	}
	c.must(t, "down")
	c.leavesNoProcess(t)
	c.leavesNoFile(t)
}

// TestRunEndsWithItsParent starts a cluster in the foreground of a shell and kills the shell.
func TestRunEndsWithItsParent(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	shell := exec.Command("sh", "-c", `"$0" run --with-parent --wait 3m --dir "$1" & wait`, binary, string(c.dir))
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(context.Context) error { return ready(c) })
	if err := shell.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = shell.Wait()
	c.leavesNoProcess(t)
	c.leavesNoFile(t)
}

// TestInterruptedStart ends everything when `up` is told to stop halfway.
func TestInterruptedStart(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	up := exec.Command(binary, "up", "--wait", patience.String(), "--dir", string(c.dir))
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(context.Context) error {
		status, err := layout.ReadStatus(c.dir)
		if err == nil && len(status.Components) == 0 {
			err = errors.New("nothing was started")
		}
		return err
	})
	if err := up.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := up.Wait(); up.ProcessState.ExitCode() != 1 {
		t.Errorf("up: %v, want exit code 1", err)
	}
	c.leavesNoProcess(t)
	c.leavesNoFile(t)
}

func ready(c cluster) error {
	status, err := layout.ReadStatus(c.dir)
	if err == nil && status.Phase != layout.Ready {
		err = errors.New("not ready")
	}
	return err
}
