package ansible

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// Executor names a way to run ansible-playbook.
type Executor string

// The executors. Results, events and artifacts are the same.
const (
	Warm   Executor = "warm"   // a fork of a process that has ansible-core imported, or Direct where that cannot be
	Direct Executor = "direct" // a plain child process
	Runner Executor = "runner" // the child of an ansible-runner process, with its private data directory
)

// executor runs ansible-playbook.
type executor interface {
	// ready returns what is missing.
	ready(ctx context.Context, env environment) error
	// prepare makes the files that the executor needs, and returns what is left to do. env is that of the play; it may be
	// changed.
	prepare(call invocation, dir *runDir, env environment) (attempt, error)
}

// attempt is a run that has been prepared. The error is non-nil only if nothing could be started.
type attempt func(ctx context.Context, out sinks) (ended, error)

// sinks receive what comes out of a run, each from one goroutine at a time and never after the run has ended.
type sinks struct {
	stdout io.Writer
	stderr *process.Capture
	events io.Writer
}

// ended is how a run came to its end.
type ended struct {
	process.Exit        // of ansible-playbook, as far as known
	program      string // whose exit it is
	said         string // what ansible-playbook wrote to standard error
	executor     Executor
	fallback     string         // why that is not the one that was asked for; empty if it is
	modules      map[string]int // executions of modules by path, as far as that is known
}

func (e *Engine) newExecutor() (executor, error) {
	switch e.cfg.Executor {
	case Warm:
		if e.cfg.Zygotes == nil {
			return nil, errors.New("the executor warm needs a pool of zygotes")
		}
		return warmExecutor{&e.cfg}, nil
	case Direct:
		return directExecutor{&e.cfg}, nil
	case Runner:
		return runnerExecutor{&e.cfg}, nil
	default:
		return nil, fmt.Errorf("there is no executor %q", e.cfg.Executor)
	}
}

// directExecutor starts ansible-playbook itself. Events come on a descriptor that the child inherits.
type directExecutor struct{ cfg *Config }

func (directExecutor) ready(context.Context, environment) error { return nil }

func (d directExecutor) prepare(call invocation, dir *runDir, env environment) (attempt, error) {
	binary, err := d.cfg.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", errNoProgram, err)
	}
	call.binary = binary
	if err := call.useFiles(dir); err != nil {
		return nil, err
	}
	path, args, err := call.command()
	if err != nil {
		return nil, err
	}
	env[eventsVariable] = eventsDescriptor
	spec := process.Spec{Path: path, Args: args, Env: env.entries(), Dir: dir.project(), Mark: dir.mark(), Stop: d.cfg.Stop}
	return func(ctx context.Context, out sinks) (ended, error) {
		spec.Stdout, spec.Stderr, spec.Extra = out.stdout, out.stderr, []io.Writer{out.events}
		exit, err := d.cfg.Runner.Run(ctx, spec)
		return ended{Exit: exit, program: program, said: out.stderr.String(), executor: Direct}, err
	}, nil
}
