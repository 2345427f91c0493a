package process

import (
	"context"
	"syscall"

	"k8s.io/utils/clock"
)

// Leader is a running program that leads a process group of its own, for [OS.Attend].
type Leader struct {
	// Ended is closed when the program has ended.
	Ended <-chan struct{}
	// Killed reports whether a signal has ended it. It is asked after that.
	Killed func() bool

	self relative
	held bool // the zombie of the program is kept until Attend has returned
}

// Attend looks after a program that has been started, as Run does after its own: it waits for its end, or stops it when
// ctx ends first, ends what is left of it and copies the rest of its output. Of spec it heeds Mark, Orphaned, Stop, Drain
// and, for a child, Independent. It reports whether ctx ended first, and whether output was cut short.
//
// The id of a leader that is no child of this process may go to another one once the program has ended. Then nothing is done
// by that id any more, and only the mark tells what is left of the program.
func (o OS) Attend(ctx context.Context, leader *Leader, spec Spec, out *Outputs) (stopped, cut bool) {
	spec = spec.withDefaults()
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	stopped = leader.await(ctx)
	o.clear(leader, spec, stopped)
	return stopped, out.drain(o.Clock, spec.Drain)
}

// await returns when the program has ended, or when ctx has; it reports whether ctx was first.
func (l *Leader) await(ctx context.Context) (stopped bool) {
	select {
	case <-l.Ended:
		return false
	case <-ctx.Done():
	}
	select {
	case <-l.Ended: // both at once: it ended by itself
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
func (o OS) clear(leader *Leader, spec Spec, stopped bool) {
	run := members{leader.self, leader.held, spec.Mark}
	switch {
	case spec.Independent:
		if stopped {
			_ = syscall.Kill(leader.self.pid, syscall.SIGKILL)
			<-leader.Ended
		}
	case !stopped && !leader.Killed() && (spec.Orphaned == nil || !spec.Orphaned()):
		run.signalGroup(syscall.SIGHUP)
	default:
		o.end(leader, run, spec.Stop)
	}
}

// end goes up the ladder.
func (o OS) end(leader *Leader, run members, ladder Ladder) {
	run.signal(syscall.SIGINT)
	if o.goneWithin(leader, run, ladder.Interrupt) {
		return
	}
	run.signal(syscall.SIGTERM)
	if o.goneWithin(leader, run, ladder.Terminate) {
		return
	}
	run.kill()
	<-leader.Ended
}
