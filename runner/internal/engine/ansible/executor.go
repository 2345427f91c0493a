package ansible

import (
	"context"
	"fmt"
	"io"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// Executor names a way to run ansible-playbook.
type Executor string

// The executors. Results, events and artifacts are the same.
const (
	Direct Executor = "direct" // a plain child process
	Runner Executor = "runner" // the child of an ansible-runner process, with its private data directory
)

// executor runs ansible-playbook.
type executor interface {
	// ready returns what is missing.
	ready(ctx context.Context, env environment) error
	// prepare makes the files that the executor needs, and what to run in dir. env is that of the play; it may be changed.
	prepare(call invocation, dir *runDir, env environment) (process.Spec, error)
	// run runs that. The error is non-nil only if nothing could be started.
	run(ctx context.Context, spec process.Spec, dir *runDir, out sinks) (ended, error)
}

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
}

func (e *Engine) newExecutor() (executor, error) {
	switch e.cfg.Executor {
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

func (d directExecutor) prepare(call invocation, dir *runDir, env environment) (process.Spec, error) {
	binary, err := d.cfg.LookPath(program)
	if err != nil {
		return process.Spec{}, fmt.Errorf("%w (%w)", errNoProgram, err)
	}
	call.binary = binary
	path, args, err := call.command()
	if err != nil {
		return process.Spec{}, err
	}
	env[eventsVariable] = eventsDescriptor
	return process.Spec{Path: path, Args: args, Env: env.entries(), Dir: dir.project()}, nil
}

func (d directExecutor) run(ctx context.Context, spec process.Spec, _ *runDir, out sinks) (ended, error) {
	spec.Stdout, spec.Stderr, spec.Extra = out.stdout, out.stderr, []io.Writer{out.events}
	exit, err := d.cfg.Runner.Run(ctx, spec)
	return ended{Exit: exit, program: program, said: out.stderr.String()}, err
}
