package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestStartField(t *testing.T) {
	const numbers = " 1 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 4711 1"
	tests := map[string]struct {
		reason string
		stat   string
		want   string
		err    bool
	}{
		"Plain":  {reason: "the 22nd field", stat: "7 (demo) S" + numbers, want: "4711"},
		"Name":   {reason: "a name may look like fields", stat: "7 (a) S 1 (b) S" + numbers, want: "4711"},
		"Zombie": {reason: "has ended, though it has a number still", stat: "7 (demo) Z" + numbers, err: true},
		"Short":  {reason: "not a stat line", stat: "7 (demo) S 1", err: true},
		"Empty":  {reason: "not a stat line", err: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := startField(test.stat)
			if got != test.want || (err != nil) != test.err {
				t.Errorf("got %q, %v; want %q: %s", got, err, test.want, test.reason)
			}
		})
	}
}

func TestIdentifyTellsProcessesApart(t *testing.T) {
	me, err := identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !me.alive() {
		t.Error("this very process is not alive")
	}
	other := me
	other.Start += "0"
	if other.alive() {
		t.Error("a process of another start time is taken for this one")
	}
}

// shell starts a shell as a child and returns once it has run the commands that come before its last one.
func shell(t *testing.T, script string) *child {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	ready := newFirstLine()
	cmd.Stdout = ready
	cmd.WaitDelay = time.Second
	c, err := startChild(cmd, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.stop(context.Background(), 0) })
	<-ready.seen
	return c
}

func TestStopAsksFirst(t *testing.T) {
	c := shell(t, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done")
	if err := c.stop(t.Context(), time.Minute); err != nil {
		t.Errorf("a process that ends when asked: %v", err)
	}
	if !c.ended() || c.err != nil {
		t.Errorf("ended is %v, with %v", c.ended(), c.err)
	}
}

func TestStopKillsInTheEnd(t *testing.T) {
	c := shell(t, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	err := c.stop(t.Context(), 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("got %v, want that it was killed", err)
	}
	if !c.ended() {
		t.Error("it runs on")
	}
}

func TestStopDoesNotWaitWithoutPatience(t *testing.T) {
	c := shell(t, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	if err := c.stop(ctx, time.Hour); !errors.Is(err, errInterrupted) {
		t.Errorf("got %v, want that it was interrupted", err)
	}
}

func TestStartChildTellsWhatCannotBeStarted(t *testing.T) {
	if _, err := startChild(exec.Command("./no-such-program"), false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
