package warm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// testPlay has one module look for the run's mark where others look for it.
const testPlay = `- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.slurp: {src: /proc/self/environ}
      register: environment_of_the_module
      no_log: true
    - ansible.builtin.assert:
        that: "'%s' in environment_of_the_module.content | b64decode"
`

// testVars keep the test on this machine and in this Python.
const testVars = `{"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}`

// testTimeout bounds the test.
const testTimeout = 30 * time.Second

// test tries the zygote with a run, the whole way: its process, its events, and a module that has to be forked where
// modules are.
func (z *zygote) test(ctx context.Context) *UnavailableError {
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	id := filepath.Base(z.dir) + "-test"
	play, vars := filepath.Join(z.dir, "test.yml"), filepath.Join(z.dir, "vars")
	mark := markName + "=" + id
	if err := os.WriteFile(play, fmt.Appendf(nil, testPlay, mark), 0o600); err != nil {
		return &UnavailableError{StartFailed, fmt.Errorf("write the playbook for a test: %w", err)}
	}
	var events bytes.Buffer
	stdout, stderr := process.NewCapture(0, maxWords), process.NewCapture(0, maxWords)
	env := z.environ()
	env["CHARTBOOK_EVENTS_FD"] = "3"
	end, err := z.run(ctx, Request{
		Program: z.need.program, Args: []string{"--inventory", "localhost,", "--extra-vars", "@" + vars, play},
		Files: map[string]string{vars: testVars}, Env: env.entries(), Dir: z.dir, ID: id, Mark: mark, Stdout: stdout, Stderr: stderr, Events: &events,
	})
	if err == nil {
		err = z.judge(end, events.Len())
	}
	if err != nil {
		return &UnavailableError{SelfTest, fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(stdout.String()+" "+stderr.String()), " "))}
	}
	return nil
}

// judge says what is wrong with the end of the test.
func (z *zygote) judge(end End, events int) error {
	want := 1
	if z.ready.Hooks != "" {
		want = 0
	}
	switch {
	case end.Stopped:
		return fmt.Errorf("a test run did not end within %s", testTimeout)
	case end.Code != 0:
		return fmt.Errorf("a test run ended with code %d", end.Code)
	case end.Modules["forked"] != want:
		return fmt.Errorf("a test run has forked %d modules, want %d: %v", end.Modules["forked"], want, end.Modules)
	case events == 0:
		return errors.New("a test run has sent no events")
	}
	return nil
}
