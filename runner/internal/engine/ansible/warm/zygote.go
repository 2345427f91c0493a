package warm

import (
	"context"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// zygote is a process that forks runs.
type zygote struct {
	pool    *Pool
	need    need
	dir     string             // of its temporary files
	begun   time.Time          // when its start began
	kill    context.CancelFunc // ends the process alone, at once
	out     *process.Capture   // what it has written to standard output; complete once gone is closed
	err     *process.Capture   // to standard error
	control *control

	settled chan struct{}     // closed when it can serve runs, or never will
	ready   ready             // valid once settled without failure
	failure *UnavailableError // valid once settled

	said chan message  // what it says of its start; room for one
	lost chan struct{} // closed when it says no more
	gone chan struct{} // closed when its process has ended
	end  string        // how; valid once gone is closed

	// Guarded by the pool.
	state   state
	pid     int  // zero before its process is there
	worn    bool // to be replaced
	running int  // runs that have chosen it
	served  int  // runs that have ended
	used    time.Time
	born    int64 // its memory when it was settled, in bytes

	mu   sync.Mutex
	runs map[string]*fork // those that it has been told of and not to reap
}

// state is how far a zygote is.
type state int

const (
	beginning state = iota
	working
	draining // no further runs
)

func newZygote(p *Pool, n need, number int, kill context.CancelFunc) *zygote {
	return &zygote{
		pool: p, need: n, dir: filepath.Join(p.cfg.Dir, "zygote-"+strconv.Itoa(number)), begun: p.cfg.Clock.Now(),
		kill: kill, out: process.NewCapture(0, maxWords), err: process.NewCapture(0, maxWords),
		settled: make(chan struct{}), said: make(chan message, 1), lost: make(chan struct{}), gone: make(chan struct{}),
		runs: map[string]*fork{},
	}
}

// stopGrace is how long a zygote without runs, or one that has closed its socket, may take to end.
const stopGrace = 5 * time.Second

// serves reports whether it takes runs.
func (z *zygote) serves() bool {
	select {
	case <-z.lost:
		return false
	default:
		return z.state == working
	}
}

// settle says how the start went. The pool is not locked.
func (z *zygote) settle(failure *UnavailableError) {
	p := z.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(z.settled)
	z.failure = failure
	stopped := z.state == draining
	switch {
	case failure != nil && stopped: // that may be why it failed
	case failure != nil:
		z.state = draining
		pause := p.trouble.add(z.need.key(), p.cfg.Clock.Now(), failure)
		p.cfg.Notify(Notice{What: StartFails, Reason: failure.Reason, Err: failure, PID: z.pid, Pause: pause})
	case !stopped:
		z.state = working
		z.born, z.used = resident(z.pid), p.cfg.Clock.Now()
		p.consulted[z.need.program] = z.ready.Consulted
		p.cfg.Notify(Notice{What: IsReady, PID: z.pid, Took: p.cfg.Clock.Since(z.begun), Detail: z.ready.String()})
		p.succeeded(z)
	}
}

// stop ends the process as soon as it has no more runs; one that is being started, at once.
func (z *zygote) stop() {
	select {
	case <-z.settled:
		if z.failure == nil && z.control.send(order{Stop: &struct{}{}}) != nil {
			z.kill()
		}
	default:
		z.kill()
	}
	for {
		select {
		case <-z.gone:
			return
		case <-z.pool.cfg.Clock.After(stopGrace):
			if z.idle() {
				z.kill()
			}
		}
	}
}
