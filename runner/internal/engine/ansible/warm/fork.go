package warm

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// fork is a run as its zygote knows it: from when it is told of it until it is told to reap it.
type fork struct {
	answer chan message  // whether it has started; room for one
	ended  chan struct{} // closed when end is known
	end    ended

	over     bool // guarded by the zygote
	released bool // guarded by the zygote
}

var errOutOfTurn = errors.New("a zygote speaks out of turn")

// enlist makes a fork of a run known.
func (z *zygote) enlist(id string) (*fork, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.runs[id] != nil {
		return nil, fmt.Errorf("run %s is under way already", id)
	}
	f := &fork{answer: make(chan message, 1), ended: make(chan struct{})}
	z.runs[id] = f
	return f, nil
}

// release says that nothing of a run is left to be looked after. Its zygote lets go of it when it has ended.
func (z *zygote) release(id string) {
	z.settleFork(id, func(f *fork) { f.released = true })
}

// hasEnded takes in how a run has ended.
func (z *zygote) hasEnded(end ended) error {
	known := z.settleFork(end.ID, func(f *fork) {
		if !f.over {
			f.over, f.end = true, end
			close(f.ended)
		}
	})
	if !known {
		return errOutOfTurn
	}
	return nil
}

// settleFork changes what is known of a fork, and has it reaped once it is both over and released.
func (z *zygote) settleFork(id string, change func(*fork)) (known bool) {
	z.mu.Lock()
	f := z.runs[id]
	if f == nil {
		z.mu.Unlock()
		return false
	}
	change(f)
	done := f.over && f.released
	if done {
		delete(z.runs, id)
	}
	z.mu.Unlock()
	if done && z.control.send(order{Reap: &orderReap{ID: id}}) != nil {
		z.kill()
	}
	return true
}

// hasAnswered takes in whether a run has started.
func (z *zygote) hasAnswered(id string, m message) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	f := z.runs[id]
	if f == nil {
		return errOutOfTurn
	}
	if m.Refused != nil {
		delete(z.runs, id)
	}
	select {
	case f.answer <- m:
		return nil
	default:
		return errOutOfTurn
	}
}

// idle reports whether there are no runs that the zygote has to be there for.
func (z *zygote) idle() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	return len(z.runs) == 0
}

// exit returns how a run has ended, if its zygote has said so.
func (f *fork) exit() (exit process.Exit, known bool) {
	select {
	case <-f.ended:
	default:
		return process.Exit{}, false
	}
	return process.Exit{
		Code: f.end.Code, Signal: syscall.Signal(f.end.Signal),
		CPU: time.Duration(f.end.CPU) * time.Microsecond, MaxRSS: f.end.MaxRSSkB << 10,
	}, true
}
