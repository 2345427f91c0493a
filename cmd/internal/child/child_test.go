package child

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// shell starts a shell as a child and returns once it has run the commands that come before its last one.
func shell(t *testing.T, script string) *Child {
	t.Helper()
	ready, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ready.Close() })
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdout = out
	c, err := Start(cmd, false)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background(), 0) })
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStopAsksFirst(t *testing.T) {
	c := shell(t, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done")
	if err := c.Stop(t.Context(), time.Minute); err != nil {
		t.Errorf("a process that ends when asked: %v", err)
	}
	if !c.Ended() || c.Err() != nil {
		t.Errorf("ended is %v, with %v", c.Ended(), c.Err())
	}
}

func TestStopKillsInTheEnd(t *testing.T) {
	c := shell(t, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	err := c.Stop(t.Context(), 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("got %v, want that it was killed", err)
	}
	if !c.Ended() {
		t.Error("it runs on")
	}
}

var errImpatient = errors.New("impatient")

func TestStopDoesNotWaitWithoutPatience(t *testing.T) {
	c := shell(t, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errImpatient)
	if err := c.Stop(ctx, time.Hour); !errors.Is(err, errImpatient) {
		t.Errorf("got %v, want that it was interrupted", err)
	}
}

func TestStartTellsWhatCannotBeStarted(t *testing.T) {
	if _, err := Start(exec.Command("./no-such-program"), false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
