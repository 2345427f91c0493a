package supervise

import (
	"fmt"
	"strings"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
)

// A component that ends is started again: at once if it had lived for a while, ever later if it keeps ending.
const (
	settled    = 3 * time.Second
	firstDelay = 250 * time.Millisecond
	lastDelay  = 2 * time.Second
)

// tailLines is how much of a log an error carries.
const tailLines = 10

// EarlyExitError is a component that ended before the cluster was ready.
type EarlyExitError struct {
	Component, Exit, Log string
	Tail                 []string
}

// Error is one line; the tail of the log is for those who have room for it.
func (e *EarlyExitError) Error() string {
	last := "it wrote nothing"
	if n := len(e.Tail); n > 0 {
		last = strings.TrimSpace(e.Tail[n-1])
	}
	return fmt.Sprintf("%s ended early (%s): %s; read %s", e.Component, e.Exit, last, e.Log)
}

func (s *Supervisor) startAll(components []plan.Component) error {
	for _, c := range components {
		log, err := OpenLog(s.Dir.Log(c.Name), maxLog)
		if err != nil {
			return err
		}
		process, err := s.start(c, log)
		if err != nil {
			log.Close()
			return err
		}
		s.children.Go(func() {
			defer log.Close()
			s.keep(c, process, log)
		})
	}
	return nil
}

// start runs a component and notes it in the state file. It gives nil when the supervisor is already stopping.
func (s *Supervisor) start(c plan.Component, log *LogFile) (Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return nil, nil
	}
	process, err := s.starter.Start(c, log)
	if err != nil {
		return nil, err
	}
	s.running[c.Name] = process
	s.note(layout.Component{Name: c.Name, ID: process.ID(), Started: s.now()})
	return process, layout.WriteStatus(s.Dir, s.status)
}

// note replaces the entry of a component in the status, and counts.
func (s *Supervisor) note(c layout.Component) {
	for i, old := range s.status.Components {
		if old.Name == c.Name {
			c.Restarts, c.LastExit = old.Restarts+1, old.LastExit
			s.status.Components[i] = c
			return
		}
	}
	s.status.Components = append(s.status.Components, c)
}

// keep waits for the end of a component and starts it again, until the supervisor stops.
func (s *Supervisor) keep(c plan.Component, process Process, log *LogFile) {
	delay := time.Duration(0)
	for process != nil {
		begun := s.now()
		exit := describe(process.Wait())
		if !s.ended(c, exit) {
			return
		}
		delay = nextDelay(delay, s.now().Sub(begun))
		if !s.pause(delay) {
			return
		}
		next, err := s.start(c, log)
		if err != nil {
			_, _ = fmt.Fprintf(log, "localcluster: %v\n", err)
			continue // Wait on an ended process returns at once, and the delay grows
		}
		process = next
	}
}

// ended takes note of the end of a component and tells whether it shall be started again.
func (s *Supervisor) ended(c plan.Component, exit string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, c.Name)
	if s.stopping {
		return false
	}
	if s.status.Phase == layout.Starting {
		path := s.Dir.Log(c.Name)
		s.abort(&EarlyExitError{Component: c.Name, Exit: exit, Log: path, Tail: Tail(path, tailLines)})
		return false
	}
	for i := range s.status.Components {
		if s.status.Components[i].Name == c.Name {
			s.status.Components[i].LastExit = exit
		}
	}
	return true
}

// pause waits, unless the supervisor stops.
func (s *Supervisor) pause(delay time.Duration) bool {
	select {
	case <-s.after(delay):
		return true
	case <-s.done:
		return false
	}
}

func nextDelay(last, lived time.Duration) time.Duration {
	if lived >= settled {
		return 0
	}
	return min(max(2*last, firstDelay), lastDelay)
}

func describe(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}
