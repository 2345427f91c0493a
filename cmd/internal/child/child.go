// Package child starts programs that end when their parent does.
package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Child is a process of ours in a session of its own, so that Ctrl-C in a terminal reaches us alone and we decide when
// it ends.
type Child struct {
	// Done is closed when the process has ended.
	Done <-chan struct{}

	cmd *exec.Cmd
	err error // of the process; valid once Done is closed
}

// Start starts a process. Unless it is to stay, it ends when we do, however that happens (on Linux).
func Start(cmd *exec.Cmd, stay bool) (*Child, error) {
	done := make(chan struct{})
	c := &Child{cmd: cmd, Done: done}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if !stay {
		endWithParent(cmd.SysProcAttr)
	}
	started := make(chan error)
	go func() {
		// To the kernel the parent is a thread; this one stays for as long as the child does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return c, nil
}

// PID returns the id of the process, which is also that of its group.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Ended reports whether the process has ended.
func (c *Child) Ended() bool {
	select {
	case <-c.Done:
		return true
	default:
		return false
	}
}

// Err returns what the process ended with, nil for exit status 0; it has to have ended.
func (c *Child) Err() error { return c.err }

// Ending says how the process ended, also when all was well; it has to have.
func (c *Child) Ending() error {
	if c.err == nil {
		return errors.New("exit status 0")
	}
	return c.err
}

// Stop asks the process to end, and ends its whole group if it has not done so within grace, or when ctx ends.
func (c *Child) Stop(ctx context.Context, grace time.Duration) error {
	if c.Ended() {
		return nil
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ask process %d to end: %w", c.PID(), err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, grace, fmt.Errorf("not within %s", grace))
	defer cancel()
	select {
	case <-c.Done:
		return nil
	case <-ctx.Done():
	}
	_ = syscall.Kill(-c.PID(), syscall.SIGKILL)
	<-c.Done
	return fmt.Errorf("process %d did not end and was killed: %w", c.PID(), context.Cause(ctx))
}
