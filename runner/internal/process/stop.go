package process

import (
	"context"
	"os"
	"syscall"
	"time"
)

// lookAgain is the time between two looks for descendants that have been told to end. They are not our
// children, so nothing tells us of their end.
const lookAgain = 20 * time.Millisecond

// await returns when the program has ended, or when ctx has; it reports whether ctx was first.
func (o OS) await(ctx context.Context, c *child) (stopped bool) {
	select {
	case <-c.ended:
		return false
	case <-ctx.Done():
	}
	select {
	case <-c.ended: // both at once: it ended by itself
		return false
	default:
		return true
	}
}

// clear ends what is left of a run.
//
// After a run that ended by itself that is what a closing terminal does: SIGHUP to the process group. A task that
// detached a process on purpose (nohup, an async job without polling) keeps it, as under the old tools. After any
// other end, and where the program ended by itself but has lost its own child (Spec.Orphaned), nobody looks after
// the rest, so all of it goes.
func (o OS) clear(c *child, spec Spec, stopped bool) {
	if !stopped && !c.killed && (spec.Orphaned == nil || !spec.Orphaned()) {
		signalGroup(c.pid(), syscall.SIGHUP)
		return
	}
	steps := []struct {
		signal syscall.Signal
		grace  time.Duration
	}{{syscall.SIGINT, spec.Stop.Interrupt}, {syscall.SIGTERM, spec.Stop.Terminate}}
	for _, step := range steps {
		signalAll(c.pid(), spec.Mark, step.signal)
		if o.goneWithin(c, spec.Mark, step.grace) {
			return
		}
	}
	killAll(c.pid(), spec.Mark)
	<-c.ended
}

// goneWithin waits until the program and its descendants have ended.
func (o OS) goneWithin(c *child, mark string, limit time.Duration) bool {
	timer := o.Clock.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C():
		return false
	}
	for len(descendants(c.pid(), mark)) > 0 {
		select {
		case <-o.Clock.After(lookAgain):
		case <-timer.C():
			return false
		}
	}
	return true
}

func signalGroup(group int, signal syscall.Signal) { _ = syscall.Kill(-group, signal) }

// signalAll signals the group at once, then each descendant outside of it.
func signalAll(group int, mark string, signal syscall.Signal) {
	signalGroup(group, signal)
	for _, p := range descendants(group, mark) {
		if p.group != group {
			p.signal(signal)
		}
	}
}

// killAll kills until no look finds anyone new. A process with a SIGKILL pending cannot fork any more, hence
// nobody escapes.
func killAll(group int, mark string) {
	killed := map[int]bool{}
	for again := true; again; {
		again = false
		signalGroup(group, syscall.SIGKILL)
		for _, p := range descendants(group, mark) {
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
