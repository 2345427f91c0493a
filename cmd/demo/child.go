package main

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

// child is a process of ours in a session of its own, so that Ctrl-C in a terminal reaches us alone and we decide when
// it ends.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	err  error         // of the process; valid once done is closed
}

// startChild starts a process. Unless it is to stay, it ends when we do, however that happens (on Linux).
func startChild(cmd *exec.Cmd, stay bool) (*child, error) {
	c := &child{cmd: cmd, done: make(chan struct{})}
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
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return c, nil
}

// ended reports whether the process has ended.
func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// ending says how the process ended; it has to have.
func (c *child) ending() error {
	if c.err == nil {
		return errors.New("exit status 0")
	}
	return c.err
}

// stop asks the process to end, and ends its whole group if it has not done so within grace, or when ctx ends.
func (c *child) stop(ctx context.Context, grace time.Duration) error {
	if c.ended() {
		return nil
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ask process %d to end: %w", c.cmd.Process.Pid, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, grace, fmt.Errorf("not within %s", grace))
	defer cancel()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
	}
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	<-c.done
	return fmt.Errorf("process %d did not end and was killed: %w", c.cmd.Process.Pid, context.Cause(ctx))
}
