//go:build linux

package process

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// leftover starts processes that are nobody's, as those of a killed operator are, and returns when they are there.
func leftover(t *testing.T, script, mark string, count int) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "setsid sh -c '"+script+"' >/dev/null 2>&1 </dev/null &")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), mark}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = OS{}.EndLeftovers([]string{mark}) })
	eventually(t, "all have started", func() bool { return len(marked(mark)) >= count })
}

func TestEndLeftovers(t *testing.T) {
	const deaf = `trap "" INT TERM HUP; (trap "" TERM; while :; do sleep 100; done) & while :; do sleep 100; done`
	tests := []struct {
		why, script string
		count       int
	}{
		{"a command that a module ran", "sleep 1000 & wait", 2},
		{"what ignores all that can be ignored", deaf, 4},
		{"a child that lost the mark still has its parent", "env -i sleep 1000 & wait", 1},
	}
	for i, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			mark := fmt.Sprintf("PROCESS_TEST=%d-leftover-%d", os.Getpid(), i)
			other := mark + "0" // begins alike
			leftover(t, tt.script, mark, tt.count)
			leftover(t, "exec sleep 1000", other, 1)
			before := leftovers(map[string]bool{mark: true})
			if err := (OS{}).EndLeftovers([]string{mark, "PROCESS_TEST=nobody"}); err != nil {
				t.Error(err)
			}
			if len(before) < tt.count {
				t.Errorf("%d were found, want %d at least", len(before), tt.count)
			}
			for _, p := range before {
				if now, ok := readProcess(p.pid); ok && !now.zombie && now.started == p.started {
					t.Errorf("process %d is left", p.pid)
				}
			}
			if len(marked(other)) != 1 {
				t.Error("one with another mark was ended")
			}
		})
	}
}

func TestEndLeftoversSparesItselfAndWithoutMarksAll(t *testing.T) {
	if err := (OS{}).EndLeftovers(nil); err != nil {
		t.Error(err)
	}
	own := environOf(os.Getpid())
	at := slices.IndexFunc(own, func(entry []byte) bool { return strings.HasPrefix(string(entry), "PATH=") })
	if at < 0 {
		t.Fatal("PATH is not set")
	}
	for _, p := range leftovers(map[string]bool{string(own[at]): true}) {
		if p.pid == os.Getpid() {
			t.Error("the process would end itself")
		}
	}
	if left := leftovers(map[string]bool{"PROCESS_TEST=nobody": true}); len(left) > 0 {
		t.Errorf("%v carry a mark that nobody has", left)
	}
}
