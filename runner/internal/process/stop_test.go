//go:build linux

package process

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

type ending struct {
	exit Exit
	err  error
}

func start(ctx context.Context, o OS, spec Spec) <-chan ending {
	done := make(chan ending, 1)
	go func() {
		exit, err := o.Run(ctx, spec)
		done <- ending{exit, err}
	}()
	return done
}

func TestLadder(t *testing.T) {
	const loop = "echo ready; while :; do sleep 0.02; done"
	tests := []struct {
		why    string
		script string
		told   []string // what the program says, a step of the clock after each
		want   Exit
	}{
		{"SIGINT is enough for most", loop, nil, Exit{Code: -1, Signal: syscall.SIGINT}},
		{"a program may end in its own way", "trap 'exit 9' INT;" + loop, nil, Exit{Code: 9}},
		{"SIGTERM follows", "trap 'echo int' INT;" + loop, []string{"int"}, Exit{Code: -1, Signal: syscall.SIGTERM}},
		{"SIGKILL ends it all", "trap 'echo int' INT; trap 'echo term' TERM;" + loop, []string{"int", "term"},
			Exit{Code: -1, Signal: syscall.SIGKILL}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			clk := clocktesting.NewFakeClock(time.Unix(0, 0))
			out := newLines()
			spec := shell(tt.script)
			spec.Stdout = out
			spec.Stop = Ladder{Interrupt: 3 * time.Second, Terminate: 5 * time.Second}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := start(ctx, OS{Clock: clk}, spec)
			if got := out.next(t); got != "ready" {
				t.Fatalf("the program says %q", got)
			}
			cancel()
			for i, word := range tt.told {
				if got := out.next(t); got != word {
					t.Fatalf("the program says %q, want %q", got, word)
				}
				eventually(t, "the ladder waits", clk.HasWaiters)
				step := []time.Duration{3 * time.Second, 5 * time.Second}[i]
				clk.Step(step - time.Millisecond)
				select {
				case end := <-done:
					t.Fatalf("ended too early: %+v", end)
				default:
				}
				clk.Step(time.Millisecond)
			}
			end := waitFor(t, clk, done)
			if end.err != nil || end.exit.Code != tt.want.Code || end.exit.Signal != tt.want.Signal || !end.exit.Stopped {
				t.Errorf("ended with %+v, want %+v stopped", end, tt.want)
			}
		})
	}
}

// waitFor lets short times pass, for the looks at what is still there.
func waitFor(t *testing.T, clk *clocktesting.FakeClock, done <-chan ending) ending {
	t.Helper()
	var end ending
	eventually(t, "the run ends", func() bool {
		select {
		case end = <-done:
			return true
		default:
			clk.Step(lookAgain)
			return false
		}
	})
	return end
}

func TestStopEndsDescendants(t *testing.T) {
	const daemon = `setsid sh -c 'trap "" INT TERM HUP; (trap "" INT TERM; while :; do sleep 100; done) & while :; do sleep 100; done' >/dev/null 2>&1 </dev/null &`
	tests := []struct {
		why    string
		script string
		count  int // processes that have to be there before the stop
	}{
		{"a child in the group", "sleep 1000", 2},
		{"a child in the background, for which the shell ignores SIGINT", "sleep 1000 & sleep 1000", 3},
		{"a child in a session of its own", "setsid -w sleep 1000", 2},
		{"a daemon that has lost its parent and ignores what it can", daemon + " sleep 1000", 6},
	}
	for i, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			spec := shell(tt.script + "; true")
			spec.Mark = fmt.Sprintf("PROCESS_TEST=%d-%d", os.Getpid(), i)
			spec.Stop = Ladder{Interrupt: 100 * time.Millisecond, Terminate: 100 * time.Millisecond}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := start(ctx, OS{}, spec)
			eventually(t, "all have started", func() bool { return len(marked(spec.Mark)) >= tt.count })
			cancel()
			end := <-done
			if !end.exit.Stopped || end.err != nil {
				t.Errorf("ended with %+v", end)
			}
			eventually(t, "all are gone", func() bool { return len(marked(spec.Mark)) == 0 })
		})
	}
}

func TestKilledProgramTakesItsDescendantsAlong(t *testing.T) {
	spec := shell("sleep 1000 & sleep 1000 & kill -9 $$")
	spec.Mark = fmt.Sprintf("PROCESS_TEST=%d-killed", os.Getpid())
	spec.Stdout = NewCapture(10, 10)
	exit, err := OS{}.Run(t.Context(), spec)
	if err != nil || exit.Signal != syscall.SIGKILL || exit.Stopped || exit.Cut {
		t.Errorf("exit %+v, error %v", exit, err)
	}
	eventually(t, "all are gone", func() bool { return len(marked(spec.Mark)) == 0 })
}

func TestNormalEndHangsUpAndSparesTheDetached(t *testing.T) {
	// Under nohup this process ignores SIGHUP, and its children would inherit that. A handler is not inherited.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	spec := shell(`sleep 1000 & sh -c 'trap "" HUP; : >ready; exec sleep 2000' & until test -e ready; do sleep 0.01; done; echo started`)
	spec.Dir = t.TempDir()
	spec.Mark = fmt.Sprintf("PROCESS_TEST=%d-detached", os.Getpid())
	out := newLines()
	spec.Stdout = out // the detached one keeps this open
	done := start(t.Context(), OS{Clock: clk}, spec)
	out.next(t)
	eventually(t, "the output is drained", clk.HasWaiters)
	clk.Step(defaultDrain)
	end := <-done
	if end.err != nil || end.exit.Code != 0 || !end.exit.Cut || end.exit.Stopped {
		t.Errorf("ended with %+v", end)
	}
	eventually(t, "only the detached is left", func() bool { return len(marked(spec.Mark)) == 1 })
	for _, pid := range marked(spec.Mark) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if !strings.Contains(string(line), "2000") {
			t.Errorf("%q is left", line)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func init() {
	helpers["reaper"] = func() {
		const setChildSubreaper = 36
		if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
			fmt.Println("subreaper:", errno)
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		clk := &quickClock{}
		go Reap(ctx, clk)
		// Ten orphans that end at once, and a child of another package whose zombie waits a little.
		_, _ = OS{}.Run(ctx, shell("for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0.1 &) ; done"))
		for range 500 {
			time.Sleep(20 * time.Millisecond)
			left := 0
			for _, p := range processes() {
				if p.parent == os.Getpid() {
					left++
				}
			}
			if left == 0 {
				fmt.Println("clean")
				return
			}
		}
		fmt.Println("zombies are left")
	}
}

// quickClock lets ten seconds pass in a tenth of one.
type quickClock struct{ clock.RealClock }

func (quickClock) Now() time.Time { return time.Unix(0, time.Now().UnixNano()*100) }

func (quickClock) After(d time.Duration) <-chan time.Time { return time.After(d / 100) }

// Covers UP B6.
func TestReap(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := newLines()
	_, err = OS{}.Run(t.Context(), Spec{Path: self, Env: []string{helperEnv + "=reaper", "PATH=" + os.Getenv("PATH")}, Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.next(t); got != "clean" {
		t.Errorf("the helper says %q", got)
	}
}

func TestReapOnceSparesTheYoungAndOurOwn(t *testing.T) {
	// A zombie of this process that nobody has waited for yet.
	pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	isZombie := func() bool { p, ok := readProcess(pid); return ok && p.zombie }
	eventually(t, "it has ended", isZombie)
	now := time.Unix(1000, 0)
	seen := reapOnce(now, nil)
	seen = reapOnce(now.Add(reapAfter-1), seen)
	if !isZombie() || !seen[pid].Equal(now) {
		t.Errorf("reaped too early; seen is %v", seen)
	}
	own.add(pid)
	reapOnce(now.Add(2*reapAfter), seen)
	if !isZombie() {
		t.Error("a child of this package was reaped")
	}
	own.remove(pid)
	if seen = reapOnce(now.Add(2*reapAfter), seen); isZombie() || len(seen) > 0 {
		t.Errorf("not reaped; seen is %v", seen)
	}
}

// TestOrphans: a program may end well although a signal has ended what it looked after, as ansible-runner does.
func TestOrphans(t *testing.T) {
	for _, orphaned := range []bool{false, true} {
		spec := shell("setsid sleep 4000 >/dev/null 2>&1 & sleep 0.2")
		spec.Mark = fmt.Sprintf("ORPHANS=%d-%v", os.Getpid(), orphaned)
		spec.Orphaned = func() bool { return orphaned }
		spec.Stop = Ladder{Interrupt: time.Second, Terminate: time.Second}
		exit, err := OS{}.Run(t.Context(), spec)
		if err != nil || exit.Code != 0 || exit.Signal != 0 || exit.Stopped {
			t.Errorf("orphaned %v: exit %+v, error %v", orphaned, exit, err)
		}
		left := marked(spec.Mark)
		if (len(left) == 0) != orphaned {
			t.Errorf("orphaned %v: %d processes are left", orphaned, len(left))
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
