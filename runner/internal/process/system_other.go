//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// This file lets the operator be built and tried on a developer's machine. There a child does not die with the
// operator, and descendants that left the process group are not found.

func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func awaitEnd(cmd *exec.Cmd) (killed bool) {
	_ = cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

func maxRSS(usage *syscall.Rusage) int64 { return int64(usage.Maxrss) }

// relative is a living process that belongs to a run.
type relative struct{ pid, group int }

func (relative) still() bool { return false }

func readProcess(pid int) (relative, bool) { return relative{pid: pid, group: pid}, true }

func (members) living() []relative { return nil }

func leftovers(map[string]bool) []relative { return nil }
