package differential

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// endProcesses returns what a run has left running, by its mark, and ends it. It waits until what is about to end has
// ended.
func endProcesses(t *testing.T, id string) []string {
	t.Helper()
	left := marked(id)
	for same := 0; len(left) > 0 && same < 5; same++ {
		time.Sleep(100 * time.Millisecond)
		again := marked(id)
		if len(again) != len(left) {
			same = 0
		}
		left = again
	}
	var lines []string
	for pid, line := range left {
		lines = append(lines, line)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Errorf("end process %d that a run left: %v", pid, err)
		}
	}
	slices.Sort(lines)
	return lines
}

// marked returns the command lines of the living processes of a run.
func marked(id string) map[int]string {
	found := testkit.Processes(testkit.Has("CHARTBOOK_RUN=" + id))
	for pid, line := range found {
		found[pid] = commandLine(line)
	}
	return found
}

// commandLine makes the arguments of a process readable. A module and what it has forked without executing anything
// has the name of its program or of the zygote.
func commandLine(zeros string) string {
	args := strings.Split(strings.TrimRight(zeros, "\x00"), "\x00")
	for _, arg := range args {
		if strings.Contains(arg, "AnsiballZ_") || strings.HasSuffix(arg, "/warm/start.py") {
			return "(a module)"
		}
	}
	return fmt.Sprint(args)
}
