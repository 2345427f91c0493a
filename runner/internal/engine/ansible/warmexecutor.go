package ansible

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible/warm"
)

// warmExecutor has runs forked from processes that have ansible-core imported already. Extra vars and vault passwords reach
// them by sockets and pipes, and are in no file: the one that the command line names is in the run's memory. A run that
// cannot be had in that way, and has not started, is a direct one.
type warmExecutor struct{ cfg *Config }

func (warmExecutor) ready(context.Context, environment) error { return nil }

func (w warmExecutor) prepare(call invocation, dir *runDir, env environment) (attempt, error) {
	binary, err := w.cfg.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", errNoProgram, err)
	}
	call.binary = binary
	return func(ctx context.Context, out sinks) (ended, error) {
		end, err := w.fork(ctx, call, dir, maps.Clone(env), out)
		var unavailable *warm.UnavailableError
		if !errors.As(err, &unavailable) {
			return end, err
		}
		start, err := directExecutor(w).prepare(call, dir, env)
		if err != nil {
			return ended{}, err
		}
		end, err = start(ctx, out)
		end.fallback = string(unavailable.Reason)
		return end, err
	}, nil
}

// fork runs ansible-playbook in a fork. The error is a [warm.UnavailableError] if the run may be started in another way.
func (w warmExecutor) fork(ctx context.Context, call invocation, dir *runDir, env environment, out sinks) (ended, error) {
	var extra []*os.File
	if dir.hasVault() {
		pipe, err := givePassword(dir.vault)
		if err != nil {
			return ended{}, err
		}
		defer func() { _ = pipe.Close() }()
		extra = []*os.File{pipe}
		call.extraArgs = append(slices.Clip(call.extraArgs), vaultOption+vaultPipe)
	}
	path, args, err := call.command()
	if err != nil {
		return ended{}, err
	}
	env[eventsVariable] = eventsDescriptor
	end, err := w.cfg.Zygotes.Run(ctx, warm.Request{
		Program: path, Args: args, Env: env.entries(), Dir: dir.project(), ID: dir.id, Mark: dir.mark(),
		Preload: w.cfg.Preload, Adjacent: adjacentNamespaces(call.playbook),
		Stdout: out.stdout, Stderr: out.stderr, Events: out.events, Extra: extra,
		Files: map[string]string{dir.extraVars(): string(dir.vars)}, Stop: w.cfg.Stop,
	})
	return ended{
		Exit: end.Exit, program: program, said: out.stderr.String(), executor: Warm, modules: end.Modules,
	}, err
}

// vaultPipe is the path by which a warm run reads its vault password: that of the first descriptor after that of the events.
const vaultPipe = "/dev/fd/4"

// givePassword returns a pipe that a password can be read from, once.
func givePassword(password []byte) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for the vault password: %w", err)
	}
	go func() { // a pipe holds as much as anyone calls a password, but who knows
		_, _ = w.Write(password) // fails if nobody reads it
		_ = w.Close()
	}()
	return r, nil
}
