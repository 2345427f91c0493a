// Package supervise owns the processes of a cluster from its start to its end.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/procs"
)

// Options say which cluster is wanted.
type Options struct {
	Dir   layout.Dir
	Port  int // of the API server; 0 is a free one
	Nodes int
	Wait  time.Duration // how long the start may take
}

// Supervisor owns one cluster.
type Supervisor struct {
	Options
	starter Starter
	table   procs.Table
	report  func(Event)
	now     func() time.Time
	after   func(time.Duration) <-chan time.Time

	ports    plan.Ports
	reserved []*Reservation
	begun    bool                    // whether a component was started
	abort    context.CancelCauseFunc // ends the start when a component does not survive it
	children sync.WaitGroup

	mu       sync.Mutex // guards what follows
	status   layout.Status
	running  map[string]Process
	stopping bool
	done     chan struct{} // closed when stopping is set
}

// New prepares a supervisor that tells of its progress through report.
func New(o Options, starter Starter, report func(Event)) *Supervisor {
	return &Supervisor{
		Options: o, starter: starter, table: procs.System(), report: report, now: time.Now, after: time.After,
		running: map[string]Process{}, done: make(chan struct{}),
	}
}

// Run starts the cluster, keeps it until the context ends, and leaves nothing of it. After a start that failed, the
// files stay for whoever looks for the cause.
func (s *Supervisor) Run(ctx context.Context) error {
	defer s.release()
	err := s.boot(ctx)
	if err == nil {
		s.report(Event{Ready: true, Server: s.ports.Server()})
		<-ctx.Done()
	}
	s.stop()
	switch {
	case err != nil && ctx.Err() != nil:
		s.report(Event{Error: "the cluster was ended while it started"})
	case err != nil:
		s.fail(err)
		if s.begun {
			return err
		}
		return errors.Join(err, s.Dir.Remove()) // nothing was started, so there is no trace to look at
	}
	return s.Dir.Remove()
}

// stop ends all components at once. Their data is thrown away, so none is asked to close it properly.
func (s *Supervisor) stop() {
	s.mu.Lock()
	s.stopping = true
	close(s.done)
	for _, p := range s.running {
		p.Kill()
	}
	s.mu.Unlock()
	s.children.Wait()
}

// fail, called when no component is left, leaves a note for `status` and reports to whoever waits for the cluster.
func (s *Supervisor) fail(err error) {
	s.status.Phase, s.status.Error, s.status.Components = layout.Failed, err.Error(), nil
	_ = layout.WriteStatus(s.Dir, s.status) // the report below says the same
	event := Event{Error: err.Error()}
	if early, is := errors.AsType[*EarlyExitError](err); is {
		event.Log, event.Tail = early.Log, early.Tail
	}
	s.report(event)
}

func (s *Supervisor) release() {
	for _, r := range s.reserved {
		r.Release()
	}
}

// update changes the state file; once stopping, there is none to change.
func (s *Supervisor) update(change func(*layout.Status)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
	if s.stopping {
		return nil
	}
	return layout.WriteStatus(s.Dir, s.status)
}

// self is the identity of this process.
func (s *Supervisor) self() (procs.ID, error) {
	info, err := s.table.Look(os.Getpid())
	if err != nil {
		return procs.ID{}, fmt.Errorf("cannot read my own start time: %w", err)
	}
	return info.ID, nil
}
