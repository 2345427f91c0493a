// Package procs tells the processes of a local cluster from all others.
//
// A process id alone proves nothing, since the kernel hands it out again. A process is ours when its id, its start
// time and its command line all agree with what the state file says.
package procs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ID names one process for good: the kernel never gives the same pair to two processes of one boot.
type ID struct {
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"startTicks"`
}

// Info is what the kernel tells about a live process.
type Info struct {
	ID
	Zombie  bool
	Command []string
}

// ErrGone says that no live process has this id.
var ErrGone = errors.New("process is gone")

// Table reads processes and sends them signals; the zero value is of no use, call System.
type Table struct {
	root string
	kill func(pid int, sig syscall.Signal) error
}

// System is the process table of this machine.
func System() Table {
	return Table{root: "/proc", kill: syscall.Kill}
}

// Look reads what the kernel knows of a process.
func (t Table) Look(pid int) (Info, error) {
	stat, err := os.ReadFile(t.file(pid, "stat"))
	if err != nil {
		return Info{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	info, err := parseStat(stat)
	if err != nil {
		return Info{}, fmt.Errorf("process %d: %w", pid, err)
	}
	command, err := os.ReadFile(t.file(pid, "cmdline"))
	if err != nil {
		return Info{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	info.Command = splitCommand(command)
	return info, nil
}

// Alive tells whether this very process still runs. A zombie has ended; only its parent has not looked yet.
func (t Table) Alive(id ID) bool {
	info, err := t.Look(id.PID)
	return err == nil && info.ID == id && !info.Zombie
}

// Ours tells whether the process is alive and has the directory of the cluster on its command line.
func (t Table) Ours(id ID, dir string) bool {
	info, err := t.Look(id.PID)
	return err == nil && info.ID == id && !info.Zombie && t.names(info, dir)
}

// names tells whether an argument is the directory. Components and supervisors have it in full; in the foreground, it
// stands there as it was typed.
func (t Table) names(info Info, dir string) bool {
	return slices.ContainsFunc(info.Command, func(arg string) bool {
		arg = strings.TrimPrefix(arg, "--dir=")
		if arg == dir {
			return true
		}
		if !filepath.IsAbs(arg) {
			cwd, _ := os.Readlink(t.file(info.PID, "cwd"))
			arg = filepath.Join(cwd, arg)
		}
		resolved, err := filepath.EvalSymlinks(arg)
		return err == nil && resolved == dir
	})
}

// Signal sends a signal if the process is ours, and does nothing otherwise.
func (t Table) Signal(id ID, dir string, sig syscall.Signal) error {
	if !t.Ours(id, dir) {
		return nil
	}
	if err := t.kill(id.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("cannot send %s to process %d: %w", sig, id.PID, err)
	}
	return nil
}

// WaitGone waits until none of the processes is alive and returns those that still are when the time is over.
func (t Table) WaitGone(ids []ID, limit time.Duration) []ID {
	deadline := time.Now().Add(limit)
	for {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return !t.Alive(id) })
		if len(ids) == 0 || time.Now().After(deadline) {
			return ids
		}
		time.Sleep(pollInterval)
	}
}

// pollInterval is short because a killed process is gone within milliseconds.
const pollInterval = 5 * time.Millisecond

func (t Table) file(pid int, name string) string {
	return filepath.Join(t.root, strconv.Itoa(pid), name)
}

func splitCommand(raw []byte) []string {
	var args []string
	for part := range bytes.SplitSeq(bytes.TrimSuffix(raw, []byte{0}), []byte{0}) {
		args = append(args, string(part))
	}
	return args
}
