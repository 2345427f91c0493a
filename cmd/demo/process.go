package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process names a process beyond doubt: its number may be given to another one later, its start time not.
type process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // in clock ticks since the machine started; empty where the system does not tell
}

// identify returns the identity of a process of ours.
func identify(pid int) (process, error) {
	start, err := startTime(pid)
	if err != nil {
		return process{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return process{PID: pid, Start: start}, nil
}

// startTime reads when a process was started from /proc; it is empty on systems without.
func startTime(pid int) (string, error) {
	if _, err := os.Stat("/proc/self/stat"); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", fmt.Errorf("look for process %d: %w", pid, err)
	}
	return startField(string(data))
}

// errZombie says that a process has ended and that its parent has not been told yet.
var errZombie = errors.New("the process has ended")

// startField returns the 22nd field of a stat line. The second one is in parentheses and may hold anything, the third
// one is the state.
func startField(stat string) (string, error) {
	const state, start = 0, 22 - 3
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	switch {
	case len(fields) <= start:
		return "", fmt.Errorf("%q is no line of /proc/PID/stat", stat)
	case fields[state] == "Z":
		return "", errZombie
	}
	return fields[start], nil
}

// alive reports whether this very process is still there.
func (p process) alive() bool {
	start, err := startTime(p.PID)
	return err == nil && start == p.Start && syscall.Kill(p.PID, 0) == nil
}

// pollInterval is how often a process is looked at that is no child of ours, so that nobody tells us of its end.
const pollInterval = 50 * time.Millisecond

// stop asks a process to end, and ends its whole group when grace is over.
func (p process) stop(ctx context.Context, grace time.Duration) error {
	if p.Start == "" {
		return fmt.Errorf("cannot tell whether process %d is the one; end it by hand", p.PID)
	}
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(p.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("ask process %d to end: %w", p.PID, err)
	}
	for begun := time.Now(); p.alive(); {
		if time.Since(begun) > grace || ctx.Err() != nil {
			_ = syscall.Kill(-p.PID, syscall.SIGKILL)
			return fmt.Errorf("process %d did not end within %s and was killed", p.PID, grace)
		}
		time.Sleep(pollInterval)
	}
	return nil
}
