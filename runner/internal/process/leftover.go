package process

import (
	"fmt"
	"syscall"
	"time"

	"k8s.io/utils/clock"
)

// killGrace is how long the kernel may take to end what was killed. A process that waits for a broken disk or server
// cannot be ended sooner.
const killGrace = 10 * time.Second

// EndLeftovers ends what the runs with these marks, see [Spec], left when this program was killed in their midst: the
// kernel ends a child with the operator, but not the child's own children. They get SIGTERM, 2 s to end, then SIGKILL.
//
// Only processes of this user are touched, and only those that were started with one of the marks in their environment,
// and their descendants. Where /proc does not show them, nothing is done. The error names one that does not end.
func (o OS) EndLeftovers(marks []string) error {
	if len(marks) == 0 {
		return nil
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	wanted := make(map[string]bool, len(marks))
	for _, mark := range marks {
		wanted[mark] = true
	}
	if o.signalLeftovers(wanted, syscall.SIGTERM, defaultGrace) == 0 {
		return nil
	}
	if pid := o.signalLeftovers(wanted, syscall.SIGKILL, killGrace); pid != 0 {
		return fmt.Errorf("process %d of an interrupted run does not end within %s of being killed", pid, killGrace)
	}
	return nil
}

// signalLeftovers signals each leftover once, those that are born meanwhile too, until there is none or the time is
// over. It returns the id of one that is left, zero if there is none.
func (o OS) signalLeftovers(marks map[string]bool, signal syscall.Signal, limit time.Duration) (pid int) {
	timer := o.Clock.NewTimer(limit)
	defer timer.Stop()
	told := map[int]bool{}
	for {
		left := leftovers(marks)
		if len(left) == 0 {
			return 0
		}
		for _, p := range left {
			if !told[p.pid] {
				told[p.pid] = true
				p.signal(signal)
			}
		}
		select {
		case <-o.Clock.After(lookAgain):
		case <-timer.C():
			return left[0].pid
		}
	}
}
