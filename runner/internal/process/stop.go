package process

import (
	"os"
	"syscall"
	"time"
)

// lookAgain is the time between two looks for descendants that have been told to end. They are not our
// children, so nothing tells us of their end.
const lookAgain = 20 * time.Millisecond

// goneWithin waits until the program and its descendants have ended.
func (o OS) goneWithin(leader *Leader, run members, limit time.Duration) bool {
	timer := o.Clock.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-leader.Ended:
	case <-timer.C():
		return false
	}
	for len(run.living()) > 0 {
		select {
		case <-o.Clock.After(lookAgain):
		case <-timer.C():
			return false
		}
	}
	return true
}

// members are the processes of a run.
type members struct {
	leader relative
	held   bool
	mark   string
}

// byID reports whether the leader's id, which is that of its group too, can be relied on: its zombie is kept, or the leader
// is there.
func (m members) byID() bool { return m.held || m.leader.still() }

// signalGroup signals the group that the leader leads. Where the leader's id is its own no more, those of the group that
// carry the mark are signalled one by one.
func (m members) signalGroup(signal syscall.Signal) {
	if m.byID() {
		_ = syscall.Kill(-m.leader.pid, signal)
		return
	}
	for _, p := range m.living() {
		if p.group == m.leader.pid {
			p.signal(signal)
		}
	}
}

// signal signals the group at once, then each descendant outside of it.
func (m members) signal(signal syscall.Signal) {
	m.signalGroup(signal)
	for _, p := range m.living() {
		if p.group != m.leader.pid {
			p.signal(signal)
		}
	}
}

// kill kills until no look finds anyone new. A process with a SIGKILL pending cannot fork any more, hence
// nobody escapes.
func (m members) kill() {
	killed := map[int]bool{}
	for again := true; again; {
		again = false
		m.signalGroup(syscall.SIGKILL)
		for _, p := range m.living() {
			if !killed[p.pid] {
				killed[p.pid], again = true, true
				p.signal(syscall.SIGKILL)
			}
		}
	}
}

// signal signals a process unless its id has gone to another one meanwhile. One that changed its user cannot be
// signalled and stays.
func (p relative) signal(signal syscall.Signal) {
	handle, err := os.FindProcess(p.pid) // holds a pidfd, so that the check and the signal are about one process
	if err != nil {
		return
	}
	if p.still() {
		_ = handle.Signal(signal)
	}
	_ = handle.Release()
}
