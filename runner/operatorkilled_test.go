package runner_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// stubbornPlay runs a command that never ends, the first time, and later notes whether that one still lives.
const stubbornPlay = idlePlay + `  tasks:
    - name: Sleep for ever once
      ansible.builtin.shell: |
        if [ ! -e DIR/pid ]; then
          echo $$ > DIR/pid.new && mv DIR/pid.new DIR/pid && exec sleep 4711.2
        fi
        if ps -o stat= -p "$(cat DIR/pid)" | grep -qv Z; then echo overlap >> DIR/overlaps; fi
`

// pid waits for the command of the newest run and returns its id.
func (o *operator) pid() int {
	o.t.Helper()
	pid := 0
	testkit.Eventually(o.t, soon, func(context.Context) error {
		text, err := os.ReadFile(filepath.Join(o.dir, "pid"))
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return err
	})
	return pid
}

// lives reports whether a process does; a zombie does not.
func lives(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// The kernel ends ansible-playbook with the operator, but not what that has started.
func TestKilledOperatorsCommandsEndBeforeTheNextRun(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, "  executor: direct\n"), "play.yml": stubbornPlay})
	killed := o.spawn()
	o.create(gvk, "thing", nil)
	old := o.pid()
	killed()
	if !lives(old) {
		t.Fatal("the command ended with the operator; the test has nothing to show")
	}
	o.start(func(options *runner.Options) { options.Ansible.PrivateDir = filepath.Join(o.dir, "private") })
	o.eventually(gvk, "thing", ready)
	if lives(old) {
		t.Error("the command of the killed operator is left")
	}
	if text, err := os.ReadFile(filepath.Join(o.dir, "overlaps")); err == nil {
		t.Errorf("two runs of one resource were under way at the same time: %s", text)
	}
}
