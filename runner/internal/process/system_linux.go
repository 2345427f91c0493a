package process

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes gives a child its own process group and lets it die with the operator; see child.live for the latter.
func attributes(independent bool) *syscall.SysProcAttr {
	if independent {
		return &syscall.SysProcAttr{Setpgid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// What waitid says in si_code about a child that a signal ended, without and with a core dump.
const (
	codeKilled = 2
	codeDumped = 3
)

// awaitEnd returns when a child has ended, and whether a signal did it. The child stays a zombie.
func awaitEnd(cmd *exec.Cmd) (killed bool) {
	var info unix.Siginfo
	for errors.Is(unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	return info.Code == codeKilled || info.Code == codeDumped
}

// maxRSS returns bytes; Linux counts in KiB.
func maxRSS(usage *syscall.Rusage) int64 { return usage.Maxrss << 10 }
