package supervise

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/procs"
)

// fakeStarter hands out processes that end when the test says so.
type fakeStarter struct {
	mu      sync.Mutex
	next    int
	started chan *fakeProcess
	behave  func(*fakeProcess)
}

type fakeProcess struct {
	name string
	id   procs.ID
	out  *LogFile
	end  chan error
	once sync.Once
}

func (s *fakeStarter) Start(c plan.Component, out *LogFile) (Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	p := &fakeProcess{name: c.Name, id: procs.ID{PID: s.next, StartTicks: 1}, out: out, end: make(chan error, 1)}
	if s.behave != nil {
		s.behave(p)
	}
	if s.started != nil {
		s.started <- p
	}
	return p, nil
}

func (p *fakeProcess) ID() procs.ID { return p.id }
func (p *fakeProcess) Wait() error  { return <-p.end }
func (p *fakeProcess) Kill()        { p.finish(errors.New("signal: killed")) }
func (p *fakeProcess) finish(err error) {
	p.once.Do(func() { p.end <- err })
}

var fixedTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// newSupervisor is one in a fresh directory whose clock stands still and whose pauses take no time.
func newSupervisor(t *testing.T, starter Starter) (*Supervisor, *[]Event) {
	t.Helper()
	dir := layout.Dir(filepath.Join(t.TempDir(), "d"))
	lock, err := layout.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lock.Release)
	var events []Event
	s := New(Options{Dir: dir, Nodes: 1, Wait: time.Minute}, starter, func(e Event) { events = append(events, e) })
	s.now = func() time.Time { return fixedTime }
	s.after = func(time.Duration) <-chan time.Time {
		now := make(chan time.Time, 1)
		now <- time.Time{}
		return now
	}
	return s, &events
}

func TestEarlyExitNamesComponentAndLog(t *testing.T) {
	s, events := newSupervisor(t, &fakeStarter{behave: func(p *fakeProcess) {
		if p.name == plan.Etcd {
			_, _ = fmt.Fprintln(p.out, "first\ndisk is full")
			p.finish(errors.New("exit status 1"))
		}
	}})
	s.now = time.Now // certificates are checked against the real clock
	err := s.Run(t.Context())
	var early *EarlyExitError
	if !errors.As(err, &early) || early.Component != plan.Etcd {
		t.Fatalf("got %v, want the early exit of etcd", err)
	}
	for _, want := range []string{"etcd ended early", "exit status 1", "disk is full", s.Dir.Log(plan.Etcd)} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q has more than one line", err)
	}
	last := (*events)[len(*events)-1]
	if last.Error == "" || len(last.Tail) != 2 {
		t.Errorf("the report is %+v", last)
	}
	if status, err := layout.ReadStatus(s.Dir); err != nil || status.Phase != layout.Failed {
		t.Errorf("the state is %+v, %v", status, err)
	}
}

func TestAStartThatNeverBeganLeavesNothing(t *testing.T) {
	held, err := Reserve(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	s, _ := newSupervisor(t, &fakeStarter{})
	s.Port = held.Port
	if err := s.Run(t.Context()); !errors.Is(err, ErrPortTaken) {
		t.Fatalf("got %v, want ErrPortTaken", err)
	}
	if _, err := os.Lstat(string(s.Dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}

func TestAComponentThatEndsIsStartedAgain(t *testing.T) {
	starter := &fakeStarter{started: make(chan *fakeProcess, 1)}
	s, _ := newSupervisor(t, starter)
	if err := s.Dir.Prepare(); err != nil {
		t.Fatal(err)
	}
	s.status.Phase = layout.Ready
	if err := s.startAll([]plan.Component{{Name: plan.Kwok}}); err != nil {
		t.Fatal(err)
	}
	(<-starter.started).finish(errors.New("signal: killed"))
	second := <-starter.started
	s.mu.Lock()
	c, _ := s.status.Component(plan.Kwok)
	s.mu.Unlock()
	if c.ID != second.id || c.Restarts != 1 || c.LastExit != "signal: killed" {
		t.Errorf("the state says %+v", c)
	}
	s.stop() // returns only when the second one has ended and no third one was started
	if starter.next != 2 {
		t.Errorf("%d starts, want 2", starter.next)
	}
}

func TestNextDelay(t *testing.T) {
	for _, row := range []struct {
		why               string
		last, lived, want time.Duration
	}{
		{"one that had settled comes back at once", time.Second, settled, 0},
		{"one that just started waits a little", 0, time.Millisecond, firstDelay},
		{"one that keeps ending waits longer", firstDelay, time.Millisecond, 2 * firstDelay},
		{"but not without end", lastDelay, time.Millisecond, lastDelay},
	} {
		if got := nextDelay(row.last, row.lived); got != row.want {
			t.Errorf("%s: got %s, want %s", row.why, got, row.want)
		}
	}
}

func TestSweepSparesProcessesOfOthers(t *testing.T) {
	dir := layout.Dir(t.TempDir())
	self, err := procs.System().Look(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	// The state of an old cluster names the id that this test has now, even with the right start time.
	status := layout.Status{Supervisor: self.ID, Components: []layout.Component{{Name: plan.Etcd, ID: self.ID}}}
	if err := layout.WriteStatus(dir, status); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(dir, procs.System()); err != nil {
		t.Fatal(err) // not reached if the test was killed
	}
}
