package ansible

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/once"
	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// Engine runs a playbook or a role, each time in a fresh ansible-playbook process.
type Engine struct {
	cfg       Config
	executor  executor
	extraArgs []string
	told      once.Texts // annotations that are ignored
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
	if extraArgs, err = withPasswordFiles(extraArgs, newEnvironment(cfg.Environ())); err != nil {
		return nil, fmt.Errorf("check the arguments for ansible-playbook: %w", err)
	}
	e := &Engine{cfg: cfg, extraArgs: extraArgs}
	if e.executor, err = e.newExecutor(); err != nil {
		return nil, err
	}
	return e, nil
}

// Ready implements [engine.Engine].
func (e *Engine) Ready(ctx context.Context) error {
	_, err := e.Version(ctx)
	if err != nil {
		return err
	}
	env := newEnvironment(e.cfg.Environ())
	if err := e.executor.ready(ctx, env); err != nil {
		return err
	}
	for _, content := range []Content{e.cfg.Main, e.content(engine.Finalize)} {
		if missing := content.missing(); missing != "" {
			return errors.New(missing)
		}
	}
	_, err = userInventories(env)
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
	start, err := e.prepare(job, content, dir)
	if err != nil {
		return engine.Result{}, err
	}
	e.tellIgnored(job)
	keep := keepArtifacts(job.Annotations, e.cfg.MaxArtifacts)
	return e.execute(ctx, job, content, dir, start, e.cfg.Workspace.artifacts.begin(dir.resource, job.ID, keep))
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
func (e *Engine) prepare(job engine.Job, content Content, dir *runDir) (attempt, error) {
	base := e.baseEnvironment(job)
	call := invocation{
		playbook:  content.Playbook,
		extraArgs: slices.Clip(e.extraArgs),
		extraVars: dir.extraVars(),
		verbosity: verbosity(job.Annotations, *e.cfg.Verbosity),
	}
	var err error
	if call.inventories, err = inventories(base, dir); err != nil {
		return nil, err
	}
	if content.isRole() {
		role, _, _ := content.role()
		if call.playbook, err = dir.writeRolePlay(role, e.facts(base)); err != nil {
			return nil, err
		}
	}
	return e.executor.prepare(call, dir, e.playEnvironment(job, base, content, dir))
}

// baseEnvironment is what the operator and the job give a run.
func (e *Engine) baseEnvironment(job engine.Job) environment {
	base := newEnvironment(e.cfg.Environ())
	maps.Copy(base, job.Env)
	return base
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
	ctx context.Context, job engine.Job, content Content, dir *runDir, start attempt, kept *artifact,
) (engine.Result, error) {
	hide := redactor(job.Redact)
	record := &recorder{progress: job.Progress, artifact: kept, hide: hide}
	out := sinks{stderr: process.NewCapture(maxStderr, maxStderr), events: &lineWriter{handle: record.line}}
	var done func()
	out.stdout, done = e.output(job, kept, hide)
	end, err := start(ctx, out)
	done()
	if err != nil && ctx.Err() == nil {
		kept.finish("failed", -1, hide.text(out.stderr.String()))
		return engine.Result{}, fmt.Errorf("run %s: %w", content.path(), err)
	}
	if err != nil { // it was over before it could begin
		end.Stopped, end.Code = true, -1
	}
	dir.abandoned = end.Stopped || end.Signal != 0 || end.Code < 0
	result := classify(ending{
		exit:     end.Exit,
		program:  end.program,
		cause:    context.Cause(ctx),
		timeout:  job.Timeout,
		stderr:   hide.text(end.said),
		recorder: record,
		root:     content.root(),
	})
	if err == nil {
		result.Processes, result.MaxRSSBytes = 1, end.MaxRSS
		result.Executor, result.Fallback, result.Modules = string(end.executor), end.fallback, end.modules
	}
	hide.result(&result)
	kept.ran(end.executor, end.fallback)
	kept.finish(artifactStatus(result.Outcome), artifactCode(result.Outcome, end.Code), hide.text(out.stderr.String()))
	return result, nil
}

// output returns where standard output goes: to the artifact and to the configured writer, secrets taken out. done has
// to be called at the end.
func (e *Engine) output(job engine.Job, kept *artifact, hide redactor) (out io.Writer, done func()) {
	file := kept.stdout()
	var more io.Writer
	if e.cfg.Output != nil {
		more = e.cfg.Output(job)
	}
	out = file
	if more != nil {
		out = teeWriter{file, more}
	}
	lines := &redactedLines{to: out, hide: hide}
	return lines, func() {
		lines.flush()
		file.close()
		kept.redact("stdout", hide)
		if closer, ok := more.(io.Closer); ok {
			_ = closer.Close()
		}
	}
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

// interruptedCode is what ansible-runner takes for the exit code of a play that was ended from outside.
const interruptedCode = 254

func artifactCode(outcome engine.Outcome, code int) int {
	if outcome == engine.TimedOut || outcome == engine.Cancelled {
		return interruptedCode
	}
	return code
}
