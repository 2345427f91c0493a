package ansible

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// Engine runs a playbook or a role, each time in a fresh ansible-playbook process.
type Engine struct {
	cfg       Config
	extraArgs []string
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine for the content that cfg names. The content itself is looked at when it is run.
func New(cfg Config) (*Engine, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	extraArgs, err := splitArgs(cfg.ExtraArgs)
	if err != nil {
		return nil, fmt.Errorf("split the arguments for ansible-playbook: %w", err)
	}
	return &Engine{cfg: cfg, extraArgs: extraArgs}, nil
}

// Ready implements [engine.Engine].
func (e *Engine) Ready(ctx context.Context) error {
	_, err := e.Version(ctx)
	if err != nil {
		return err
	}
	for _, content := range []Content{e.cfg.Main, e.content(engine.Finalize)} {
		if missing := content.missing(); missing != "" {
			return errors.New(missing)
		}
	}
	_, err = userInventories(newEnvironment(e.cfg.Environ()))
	return err
}

// Version returns the version of ansible-core that is used, like 2.18.1. The answer is remembered until the program
// changes.
func (e *Engine) Version(ctx context.Context) (string, error) {
	path, err := e.cfg.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("%w (%w)", errNoProgram, err)
	}
	return e.cfg.Workspace.versions.of(ctx, e.cfg.Runner, path, newEnvironment(e.cfg.Environ()))
}

// Run implements [engine.Engine].
func (e *Engine) Run(ctx context.Context, job engine.Job) (engine.Result, error) {
	started := e.cfg.Clock.Now()
	result, err := e.run(ctx, job)
	if err != nil {
		return engine.Result{}, err
	}
	result.Started, result.Finished = started, e.cfg.Clock.Now()
	return result, nil
}

func (e *Engine) run(ctx context.Context, job engine.Job) (engine.Result, error) {
	ctx, stop := e.deadline(ctx, job.Timeout)
	defer stop()
	content := e.content(job.Mode)
	if missing := content.missing(); missing != "" {
		return engine.Result{
			Outcome: engine.Permanent, Reason: engine.ReasonPlaybookError, Message: missing,
			Failures: []engine.Failure{{File: content.path(), Message: missing}},
		}, nil
	}
	dir, err := e.cfg.Workspace.openRun(job)
	if err != nil {
		return engine.Result{}, err
	}
	defer dir.close()
	spec, err := e.prepare(job, content, dir)
	if err != nil {
		return engine.Result{}, err
	}
	keep := keepArtifacts(job.Annotations, e.cfg.MaxArtifacts)
	return e.execute(ctx, job, content, spec, e.cfg.Workspace.artifacts.begin(dir.resource, job.ID, keep))
}

// deadline returns a context that also ends when the timeout is over; zero is none.
func (e *Engine) deadline(ctx context.Context, timeout time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if timeout <= 0 {
		return ctx, func() { cancel(nil) }
	}
	timer := e.cfg.Clock.AfterFunc(timeout, func() { cancel(errTimeout) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// content returns what a run of this mode is about.
func (e *Engine) content(mode engine.Mode) Content {
	if mode == engine.Finalize && e.cfg.Finalizer.path() != "" {
		return e.cfg.Finalizer
	}
	return e.cfg.Main
}

// prepare makes the files that depend on the content, and what to run.
func (e *Engine) prepare(job engine.Job, content Content, dir *runDir) (process.Spec, error) {
	binary, err := e.cfg.LookPath(program)
	if err != nil {
		return process.Spec{}, fmt.Errorf("%w (%w)", errNoProgram, err)
	}
	base := newEnvironment(e.cfg.Environ())
	call := invocation{
		binary:    binary,
		playbook:  content.Playbook,
		extraArgs: e.extraArgs,
		extraVars: dir.extraVars(),
		verbosity: verbosity(job.Annotations, *e.cfg.Verbosity),
	}
	if call.inventories, err = inventories(base, dir); err != nil {
		return process.Spec{}, err
	}
	if content.isRole() {
		role, _, _ := content.role()
		gatherFacts := base["ANSIBLE_GATHERING"] != "explicit"
		if call.playbook, err = dir.writeRolePlay(role, gatherFacts); err != nil {
			return process.Spec{}, err
		}
	}
	path, args, err := call.command()
	if err != nil {
		return process.Spec{}, err
	}
	return process.Spec{
		Path: path,
		Args: args,
		Env:  e.playEnvironment(base, content, dir).entries(),
		Dir:  dir.project(),
		Mark: runVariable + "=" + job.ID,
		Stop: e.cfg.Stop,
	}, nil
}

// inventories returns those of the user, else one made for the run.
func inventories(env environment, dir *runDir) ([]string, error) {
	given, err := userInventories(env)
	if err != nil || len(given) > 0 {
		return given, err
	}
	path, err := dir.writeInventory(localInventory(env))
	return []string{path}, err
}

// maxStderr is how much of the beginning and of the end of standard error is kept.
const maxStderr = 64 << 10

// execute runs ansible-playbook and finds out what came of it.
func (e *Engine) execute(
	ctx context.Context, job engine.Job, content Content, spec process.Spec, kept *artifact,
) (engine.Result, error) {
	record := &recorder{progress: job.Progress, artifact: kept}
	stdout, stderr := kept.stdout(), process.NewCapture(maxStderr, maxStderr)
	spec.Stdout, spec.Stderr = e.output(job, stdout), stderr
	spec.Extra = []io.Writer{&lineWriter{handle: record.line}}
	exit, err := e.cfg.Runner.Run(ctx, spec)
	stdout.close()
	if err != nil && ctx.Err() == nil {
		kept.finish("failed", -1, stderr)
		return engine.Result{}, fmt.Errorf("run %s: %w", content.path(), err)
	}
	if err != nil { // it was over before it could begin
		exit.Stopped, exit.Code = true, -1
	}
	result := classify(ending{
		exit:     exit,
		cause:    context.Cause(ctx),
		timeout:  job.Timeout,
		stderr:   stderr.String(),
		recorder: record,
		root:     content.root(),
	})
	if err == nil {
		result.Processes, result.MaxRSSBytes = 1, exit.MaxRSS
	}
	kept.finish(artifactStatus(result.Outcome), exit.Code, stderr)
	return result, nil
}

// output adds the configured writer to the artifact.
func (e *Engine) output(job engine.Job, kept io.Writer) io.Writer {
	if e.cfg.Output != nil {
		if more := e.cfg.Output(job); more != nil {
			return teeWriter{kept, more}
		}
	}
	return kept
}

// teeWriter writes to both, whatever the second one says.
type teeWriter struct{ first, second io.Writer }

func (t teeWriter) Write(p []byte) (int, error) {
	_, _ = t.second.Write(p)
	return t.first.Write(p)
}

// artifactStatus names an outcome as ansible-runner does.
func artifactStatus(outcome engine.Outcome) string {
	switch outcome {
	case engine.TimedOut:
		return "timeout"
	case engine.Cancelled:
		return "canceled"
	case engine.Transient, engine.Permanent:
		return "failed"
	default:
		return "successful"
	}
}
