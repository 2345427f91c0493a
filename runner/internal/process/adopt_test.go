//go:build linux

package process

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// foster is a child of this process whose own child leads a group, as a server's runs do.
type foster struct {
	parent, leader int
	kill           func() Exit // ends the parent alone
}

// newFoster starts a script as the leader of a session, with mark in its environment. Its parent does not reap it.
func newFoster(t *testing.T, script, mark string) foster {
	t.Helper()
	const server = `import os, sys, time
pid = os.fork()
if pid == 0:
    os.setsid()
    os.environ.update([sys.argv[2].split("=")])
    os.execv("/bin/sh", ["sh", "-c", sys.argv[1]])
print(pid, flush=True)
time.sleep(1000)`
	started, out := make(chan int, 1), newLines()
	ctx, cancel := context.WithCancel(t.Context())
	done := start(ctx, OS{}, Spec{
		Path: "/usr/bin/python3", Args: []string{"-c", server, script, mark}, Env: []string{"PATH=" + os.Getenv("PATH")},
		Dir: t.TempDir(), Stdout: out, Independent: true, Started: func(pid int) { started <- pid },
	})
	kill := sync.OnceValue(func() Exit {
		cancel()
		return (<-done).exit
	})
	t.Cleanup(func() {
		_ = OS{}.EndLeftovers([]string{mark})
		kill()
	})
	f := foster{parent: <-started, kill: kill}
	var err error
	if f.leader, err = strconv.Atoi(out.next(t)); err != nil {
		t.Fatal(err)
	}
	return f
}

// attend looks after the leader, whose end its handle tells.
func (f foster) attend(ctx context.Context, t *testing.T, spec Spec, killed bool) <-chan bool {
	t.Helper()
	adopted, err := Adopt(f.leader, f.parent)
	if err != nil {
		t.Fatal(err)
	}
	out, err := OpenOutputs()
	if err != nil {
		t.Fatal(err)
	}
	out.Begin(true)
	done := make(chan bool, 1)
	go func() {
		defer adopted.Close()
		stopped, _ := OS{}.Attend(ctx, adopted.Leader(adopted.Gone(), func() bool { return killed }), spec, out)
		done <- stopped
	}()
	return done
}

func TestAttendEndsTheChildOfAChild(t *testing.T) {
	const script = `(trap "" INT TERM HUP; while :; do sleep 100; done) & setsid sleep 1000 & sleep 1000`
	tests := []struct {
		why      string
		orphaned bool // nobody keeps the leader's zombie
		killed   bool // the leader dies first, else it is stopped
	}{
		{"stopped, under its parent", false, false},
		{"stopped, when its parent has died", true, false},
		{"killed, under its parent", false, true},
		{"killed, when its parent has died", true, true},
	}
	for i, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			mark := fmt.Sprintf("PROCESS_TEST=%d-foster-%d", os.Getpid(), i)
			f := newFoster(t, script, mark)
			eventually(t, "all have started", func() bool { return len(marked(mark)) >= 4 })
			spec := Spec{Mark: mark, Stop: Ladder{Interrupt: 100 * time.Millisecond, Terminate: 100 * time.Millisecond}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := f.attend(ctx, t, spec, tt.killed)
			if tt.orphaned {
				f.kill()
			}
			if len(marked(mark)) < 4 {
				t.Error("the run ended with its parent")
			}
			if tt.killed {
				_ = syscall.Kill(f.leader, syscall.SIGKILL)
			} else {
				cancel()
			}
			if stopped := <-done; stopped == tt.killed {
				t.Errorf("stopped is %v", stopped)
			}
			eventually(t, "all are gone", func() bool { return len(marked(mark)) == 0 })
		})
	}
}

func TestAttendHangsUpAfterAGoodEnd(t *testing.T) {
	for _, orphaned := range []bool{false, true} {
		mark := fmt.Sprintf("PROCESS_TEST=%d-hangup-%v", os.Getpid(), orphaned)
		end := t.TempDir() + "/end"
		f := newFoster(t, "nohup sleep 2000 >/dev/null 2>&1 & sleep 1000 & until test -e "+end+"; do sleep 0.01; done", mark)
		eventually(t, "both are there", func() bool { // nohup has begun to ignore the signal once its program shows
			all := commands(mark)
			return slices.Contains(all, "sleep 1000") && slices.Contains(all, "sleep 2000")
		})
		done := f.attend(t.Context(), t, Spec{Mark: mark}, false)
		if orphaned {
			f.kill()
		}
		if err := os.WriteFile(end, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if <-done {
			t.Error("it was stopped")
		}
		eventually(t, "only what ignores it is left", func() bool {
			left := commands(mark)
			return len(left) == 1 && left[0] == "sleep 2000"
		})
	}
}

// commands returns the command lines of the processes that carry a mark.
func commands(mark string) (all []string) {
	for _, pid := range marked(mark) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		all = append(all, strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " ")))
	}
	return all
}

func TestAdoptRefusesStrangers(t *testing.T) {
	f := newFoster(t, "sleep 1000", fmt.Sprintf("PROCESS_TEST=%d-stranger", os.Getpid()))
	tests := []struct {
		why         string
		pid, parent int
	}{
		{"a child of another process", f.leader, os.Getpid()},
		{"a process that does not exist", 1 << 30, f.parent},
		{"a child of a process that is not ours", os.Getpid(), os.Getppid()},
	}
	for _, tt := range tests {
		if a, err := Adopt(tt.pid, tt.parent); err == nil {
			a.Close()
			t.Errorf("%s was adopted", tt.why)
		}
	}
}

func TestIndependentProgramIsKilledAlone(t *testing.T) {
	mark := fmt.Sprintf("PROCESS_TEST=%d-alone", os.Getpid())
	spec := shell("trap '' INT TERM; sleep 1000 & wait; sleep 1000")
	spec.Env = append(spec.Env, mark)
	spec.Independent = true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	t.Cleanup(func() { _ = OS{}.EndLeftovers([]string{mark}) })
	done := start(ctx, OS{}, spec)
	eventually(t, "both have started", func() bool { return len(marked(mark)) == 2 })
	cancel()
	if end := <-done; end.err != nil || end.exit.Signal != syscall.SIGKILL || !end.exit.Stopped {
		t.Errorf("ended with %+v", end)
	}
	if left := marked(mark); len(left) != 1 {
		t.Errorf("%d processes are left, want its child", len(left))
	}
}

func init() {
	// It starts a program that lives for as long as a file is open that only this process has, and is killed then.
	helpers["dying"] = func() {
		r, w, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		spec := shell("echo ready; cat <&3; echo over >" + os.Getenv("LAST_WORDS"))
		spec.Stdout, spec.Inherit, spec.Independent = os.Stdout, []*os.File{r}, true
		_, _ = OS{}.Run(context.Background(), spec)
		_ = w.Close()
	}
}

// TestIndependentProgramOutlivesItsParent: it notices the end by a file that it has inherited, and can clean up.
func TestIndependentProgramOutlivesItsParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words, out := t.TempDir()+"/words", newLines()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	done := start(ctx, OS{}, Spec{
		Path: self, Env: []string{helperEnv + "=dying", "PATH=" + os.Getenv("PATH"), "LAST_WORDS=" + words},
		Stdout: out, Independent: true, Drain: time.Millisecond,
	})
	if line := out.next(t); line != "ready" {
		t.Fatal(line)
	}
	kill()
	if end := <-done; end.exit.Signal != syscall.SIGKILL {
		t.Errorf("the parent ended with %+v", end)
	}
	eventually(t, "it has its last words", func() bool {
		text, _ := os.ReadFile(words)
		return string(text) == "over\n"
	})
}
