package supervise

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/procs"
)

// Self is this binary even after the file it was started from was replaced or removed, as a rebuild does.
const Self = "/proc/self/exe"

// Process is a component that was started.
type Process interface {
	ID() procs.ID
	// Wait blocks until the process has ended and all it wrote is in its log.
	Wait() error
	Kill()
}

// Starter starts components.
type Starter interface {
	Start(c plan.Component, output *LogFile) (Process, error)
}

// selfStarter starts components as child processes of this same binary.
//
// Two things end the children when the supervisor is killed. The kernel sends them a signal (PR_SET_PDEATHSIG) when
// the thread that forked them ends, so one goroutine forks them all and keeps its thread for good. And each watches
// the read end of a pipe whose write end only the supervisor has.
type selfStarter struct {
	dir      layout.Dir
	requests chan startRequest
	life     *os.File
	keep     *os.File // the write end: closed by the kernel when this process ends
}

type startRequest struct {
	command *exec.Cmd
	done    chan error
}

// NewStarter prepares to start components in a cluster's directory.
func NewStarter(dir layout.Dir) (Starter, error) {
	life, keep, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot make the pipe that components watch: %w", err)
	}
	s := &selfStarter{dir: dir, requests: make(chan startRequest), life: life, keep: keep}
	go s.serve()
	return s, nil
}

func (s *selfStarter) serve() {
	runtime.LockOSThread()
	for r := range s.requests {
		r.done <- r.command.Start()
	}
}

// Start runs a component in the directory of the cluster, which also stands on its command line: that is how its
// process is recognised later.
func (s *selfStarter) Start(c plan.Component, output *LogFile) (Process, error) {
	command := exec.Command(Self, append([]string{"component", c.Name, string(s.dir)}, c.Args...)...)
	command.Args[0] = "localcluster"
	command.Dir = string(s.dir)
	command.Env = c.Env
	command.Stdout, command.Stderr = output, output
	command.ExtraFiles = []*os.File{s.life}
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	r := startRequest{command: command, done: make(chan error)}
	s.requests <- r
	if err := <-r.done; err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", c.Name, err)
	}
	// A child is a zombie at worst until Wait is called, so its entry in /proc is always there.
	info, err := procs.System().Look(command.Process.Pid)
	if err != nil {
		_ = command.Process.Kill()
		_ = command.Wait()
		return nil, fmt.Errorf("cannot read the start time of %s: %w", c.Name, err)
	}
	return &childProcess{command: command, id: info.ID}, nil
}

type childProcess struct {
	command *exec.Cmd
	id      procs.ID
}

func (p *childProcess) ID() procs.ID { return p.id }
func (p *childProcess) Wait() error  { return p.command.Wait() }
func (p *childProcess) Kill()        { _ = p.command.Process.Kill() }
