package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"k8s.io/utils/clock"
)

// OS runs programs of this machine. The zero value is ready for use.
type OS struct {
	// Clock measures the grace and drain times. Default the real one.
	Clock clock.Clock
}

// Run implements [Runner].
func (o OS) Run(ctx context.Context, spec Spec) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	out, err := OpenOutputs(append([]io.Writer{spec.Stdout, spec.Stderr}, spec.Extra...)...)
	if err != nil {
		return Exit{}, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	c := &child{
		cmd:     command(spec, out),
		started: make(chan error, 1),
		ended:   make(chan struct{}),
		reap:    make(chan struct{}),
		reaped:  make(chan struct{}),
	}
	go c.live()
	err = <-c.started
	out.Begin(err == nil)
	if err != nil {
		return Exit{}, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	if spec.Started != nil {
		spec.Started(c.pid())
	}
	stopped, cut := o.Attend(ctx, c.leader(), spec, out)
	close(c.reap)
	<-c.reaped
	return exitOf(c.cmd.ProcessState, stopped, cut), nil
}

func command(spec Spec, out *Outputs) *exec.Cmd {
	cmd := exec.Command(spec.Path)
	cmd.Args = append(cmd.Args, spec.Args...)
	cmd.Env = append([]string{}, spec.Env...) // not nil: that would inherit
	if spec.Mark != "" {
		cmd.Env = append(cmd.Env, spec.Mark)
	}
	cmd.Dir = spec.Dir
	cmd.Stdout, cmd.Stderr = out.file(0), out.file(1)
	for i := range spec.Extra {
		cmd.ExtraFiles = append(cmd.ExtraFiles, out.writers[2+i])
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, spec.Inherit...)
	cmd.SysProcAttr = attributes(spec.Independent)
	return cmd
}

// child is a running program.
type child struct {
	cmd     *exec.Cmd
	started chan error    // one value: how the start went
	killed  bool          // a signal ended it; valid once ended is closed
	ended   chan struct{} // closed when the program has ended, still a zombie
	reap    chan struct{} // closed to let the zombie go
	reaped  chan struct{} // closed when it is gone
}

// live is the child's whole life, on one thread.
//
// The kernel sends the parent-death signal when the thread that forked the child ends, not when the process
// does. Go moves goroutines between threads and may end a thread, so the one that forks is locked until the
// child is gone; waiting blocks a thread anyway.
//
// The zombie is kept until the group has been signalled for the last time: as long as it exists, its id, which
// is the group's too, cannot be given to another process.
func (c *child) live() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	if err == nil {
		own.add(c.pid())
	}
	c.started <- err
	if err != nil {
		return
	}
	c.killed = awaitEnd(c.cmd)
	close(c.ended)
	<-c.reap
	own.remove(c.pid()) // before its id can go to another process
	_ = c.cmd.Wait()    // the state says more than the error
	close(c.reaped)
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// leader is the child for Attend.
func (c *child) leader() *Leader {
	self, _ := readProcess(c.pid()) // without it, more processes than need be are looked at
	self.pid = c.pid()
	return &Leader{self: self, held: true, Ended: c.ended, Killed: func() bool { return c.killed }}
}

// exitOf translates what the kernel says about an ended process.
func exitOf(state *os.ProcessState, stopped, cut bool) Exit {
	exit := Exit{Code: state.ExitCode(), Stopped: stopped, Cut: cut, CPU: state.UserTime() + state.SystemTime()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = status.Signal()
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		exit.MaxRSS = maxRSS(usage)
	}
	return exit
}
