package ansible

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// runnerProgram is the command that runs ansible-playbook with a private data directory.
const runnerProgram = "ansible-runner"

// pipeVariable names to the callback plugin the pipe to write to.
const pipeVariable = "CHARTBOOK_EVENTS_PIPE"

// errNoRunner says what to do where ansible-runner is missing.
var errNoRunner = errors.New(runnerProgram + " is not on PATH: install ansible-runner 2.0 or later, or use the executor direct")

// runnerExecutor starts ansible-runner, which starts ansible-playbook on a terminal of its own and in a session of its
// own. What it writes goes to a directory that is wiped with the run: its event files have the arguments of all tasks
// and its file command the whole environment. Artifacts are made of our own events instead, which come by a named
// pipe, since ansible-runner closes all descriptors but the standard ones.
type runnerExecutor struct{ cfg *Config }

func (r runnerExecutor) ready(ctx context.Context, env environment) error {
	path, err := r.cfg.LookPath(runnerProgram)
	if err != nil {
		return fmt.Errorf("%w (%w)", errNoRunner, err)
	}
	version, err := r.cfg.Workspace.versions.of(ctx, r.cfg.Runner, path, env)
	if err != nil {
		return err
	}
	if major, _, _ := strings.Cut(version, "."); major == "0" || major == "1" {
		return fmt.Errorf("%s is version %s: install 2.0 or later, or use the executor direct", path, version)
	}
	return nil
}

func (r runnerExecutor) prepare(call invocation, dir *runDir, env environment) (attempt, error) {
	binary, err := r.cfg.LookPath(runnerProgram)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", errNoRunner, err)
	}
	err = call.useFiles(dir)
	if err == nil {
		err = r.writeFiles(call, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("make the private data directory: %w", err)
	}
	args := []string{"run", dir.path(), "--artifact-dir", dir.spool(), "--ident", runnerIdent, "--playbook", call.playbook}
	if call.verbosity > 0 {
		args = append(args, "-"+strings.Repeat("v", call.verbosity))
	}
	r.completeEnvironment(env)
	env[pipeVariable] = dir.spool("events")
	spec := process.Spec{Path: binary, Args: args, Env: env.entries(), Dir: dir.project(), Mark: dir.mark(), Stop: r.cfg.Stop}
	return func(ctx context.Context, out sinks) (ended, error) { return r.run(ctx, spec, dir, out) }, nil
}

// runnerIdent is what ansible-runner calls the run; the real id is in our own artifacts.
const runnerIdent = "run"

// completeEnvironment makes up for what ansible-runner does otherwise than a plain ansible-playbook: it runs it on a
// terminal, and it knows only the environment's choice of what a play prints, not that of ansible.cfg.
func (runnerExecutor) completeEnvironment(env environment) {
	if _, set := env["ANSIBLE_NOCOLOR"]; !set {
		env["ANSIBLE_NOCOLOR"] = "True"
	}
	if callback := readSettings(env).file["stdout_callback"]; callback != "" && env["ANSIBLE_STDOUT_CALLBACK"] == "" {
		env["ANSIBLE_STDOUT_CALLBACK"] = callback
	}
}

// writeFiles completes the private data directory: env/cmdline with what the command line of ansible-runner cannot say,
// env/envvars and env/settings for those who look there.
func (runnerExecutor) writeFiles(call invocation, dir *runDir) error {
	words := call.extraArgs
	if own := dir.path("inventory"); len(call.inventories) > 1 || call.inventories[0] != own {
		for _, inventory := range call.inventories {
			words = append(slices.Clip(words), "--inventory="+inventory)
		}
		if err := os.Remove(own); err != nil { // else ansible-runner adds it to those of the user
			return err
		}
	}
	envvars := environment{}
	if dir.hasKubeconfig {
		envvars = environment{"K8S_AUTH_KUBECONFIG": dir.kubeconfig(), "KUBECONFIG": dir.kubeconfig()}
	}
	variables, err := json.Marshal(envvars)
	if err != nil {
		return err
	}
	files := map[string]string{"envvars": string(variables), "settings": "{}"}
	if len(words) > 0 {
		files["cmdline"] = quoteWords(words)
	}
	for name, text := range files {
		if err := os.WriteFile(dir.path("env", name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return os.Mkdir(dir.spool(), 0o700)
}

func (r runnerExecutor) run(ctx context.Context, spec process.Spec, dir *runDir, out sinks) (ended, error) {
	pipe, err := openPipe(dir.spool("events"), out.events)
	if err != nil {
		return ended{}, err
	}
	printed := process.NewCapture(maxStderr, maxStderr)
	stdout := &lineEnds{to: io.MultiWriter(printed, out.stdout)}
	spec.Stdout, spec.Stderr = stdout, out.stderr
	spec.Orphaned = func() bool {
		code, err := readCode(dir)
		return err == nil && code < 0
	}
	exit, err := r.cfg.Runner.Run(ctx, spec)
	pipe.close()
	if err != nil {
		return ended{}, err
	}
	end := ended{Exit: exit, program: runnerProgram, said: printed.String(), executor: Runner}
	if exit.Signal == 0 {
		end.look(dir, out.stderr)
	}
	return end, nil
}

// look finds out how ansible-playbook has ended.
func (end *ended) look(dir *runDir, stderr *process.Capture) {
	code, err := readCode(dir)
	if err == nil {
		end.program, end.Code = program, code
		return
	}
	end.said = stderr.String() // ansible-runner gave up itself
	if end.Code == 0 {
		end.Code = 1
	}
}

// readCode returns the exit code of ansible-playbook, negative if a signal has ended it: ansible-runner then has none to
// write, and ends with zero itself.
func readCode(dir *runDir) (int, error) {
	text, err := os.ReadFile(dir.spool(runnerIdent, "rc"))
	if err != nil {
		return 0, err
	}
	code, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return -1, nil //nolint:nilerr // it says None
	}
	return code, nil
}

// spool returns a path in the directory that ansible-runner writes to.
func (d *runDir) spool(below ...string) string {
	return d.path(append([]string{spoolDir}, below...)...)
}

const spoolDir = "spool"

// quoteWords writes words as a POSIX shell, and the file env/cmdline, has them.
func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
	}
	return strings.Join(quoted, " ")
}
