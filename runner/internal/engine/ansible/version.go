package ansible

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// program is the command that runs plays.
const program = "ansible-playbook"

// versionTimeout bounds the question for the version.
const versionTimeout = time.Minute

// versionForm matches what ansible-playbook and ansible-runner say about their version.
var versionForm = regexp.MustCompile(`\[core (\d+\.\d+[^\]]*)\]|(?m:^(\d+\.\d+\S*)$)`)

// versions remembers what programs have said about their version, for all engines of a workspace. A program is asked
// again when its file changes.
type versions struct {
	mu    sync.Mutex // also keeps several engines from asking at once
	known map[string]knownVersion
}

type knownVersion struct {
	modified time.Time
	size     int64
	version  string
}

// of returns the version that the program at path says it has: that of ansible-core, or that of ansible-runner.
func (v *versions) of(ctx context.Context, runner process.Runner, path string, env environment) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", path, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if known, ok := v.known[path]; ok && known.modified.Equal(info.ModTime()) && known.size == info.Size() {
		return known.version, nil
	}
	version, err := askVersion(ctx, runner, path, env)
	if err != nil {
		return "", err
	}
	if v.known == nil {
		v.known = map[string]knownVersion{}
	}
	v.known[path] = knownVersion{modified: info.ModTime(), size: info.Size(), version: version}
	return version, nil
}

func askVersion(ctx context.Context, runner process.Runner, path string, env environment) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	stdout, stderr := process.NewCapture(64<<10, 0), process.NewCapture(0, 64<<10)
	exit, err := runner.Run(ctx, process.Spec{
		Path: path, Args: []string{"--version"}, Env: env.entries(), Stdout: stdout, Stderr: stderr,
	})
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	found := versionForm.FindSubmatch(stdout.Head())
	if exit.Code != 0 || found == nil {
		return "", fmt.Errorf("ask for a version: %s --version ended with exit code %d: %s",
			path, exit.Code, shorten(lastLine(stderr.String()+"\n"+stdout.String()), maxFailureText))
	}
	return string(found[1]) + string(found[2]), nil // one of them is empty
}

// errNoProgram says what to do where Ansible is missing.
var errNoProgram = errors.New(program + " is not on PATH: install ansible-core 2.14 or later")
