package ansible

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// ErrNotInstalled says that playbooks cannot be checked here, since ansible-playbook is missing.
var ErrNotInstalled = errors.New("the playbook's syntax was not checked, since ansible-playbook is not on the PATH; install ansible-core")

// CheckSyntax returns what keeps a playbook from being parsed, with file and line; nil if it parses. Nothing is run.
func CheckSyntax(ctx context.Context, playbook string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return ErrNotInstalled
	}
	stderr := process.NewCapture(maxStderr, maxStderr)
	exit, err := process.OS{}.Run(ctx, process.Spec{
		Path: path, Args: []string{"--syntax-check", "--inventory", "localhost,", playbook},
		Env: os.Environ(), Dir: filepath.Dir(playbook), Stderr: stderr,
	})
	if err != nil {
		return fmt.Errorf("check the syntax of %s: %w", playbook, err)
	}
	if exit.Code == 0 {
		return nil
	}
	c := parseStderr(stderr.String())
	if c.file == "" {
		return fmt.Errorf("%s: %s", playbook, c.text)
	}
	return fmt.Errorf("%s:%d: %s", c.file, c.line, c.text)
}
