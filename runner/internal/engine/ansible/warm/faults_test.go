//go:build linux

package warm

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// unavailable fails unless an error says that nothing has started, for this reason.
func unavailable(t *testing.T, err error, reason Reason, says string) {
	t.Helper()
	var got *UnavailableError
	if !errors.As(err, &got) || got.Reason != reason || !strings.Contains(err.Error(), says) {
		t.Errorf("error is %v, want %s: %s", err, reason, says)
	}
}

func TestStartsThatFail(t *testing.T) {
	tests := []struct {
		fault  string
		reason Reason
		says   string
	}{
		{"crash", StartFailed, "it ended before it was ready: cannot import the universe"},
		{"garbage", StartFailed, "it ended before it was ready"},
		{"silent", StartFailed, "it did not say in time that it is ready"},
		{"protocol", StartFailed, "version 2 of the protocol"},
		{"locale", Locale, "C is no locale"},
		{"test", SelfTest, "a test run ended with code 7"},
		{"unforked", SelfTest, "a test run has forked 0 modules, want 1"},
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(cfg *Config) {
				if tt.fault == "silent" {
					cfg.StartTimeout = 3 * time.Second
				}
			})
			for range 2 {
				_, err := b.pool.Run(t.Context(), b.request("echo never", tt.fault))
				unavailable(t, err, tt.reason, tt.says)
			}
			if n := len(b.starts()); n > 1 {
				t.Errorf("%d zygotes were started at once", n)
			}
			for _, what := range []What{StartFails, FellBack} {
				if told := b.noted(what); len(told) != 1 || told[0].Reason != tt.reason {
					t.Errorf("told was %+v", told)
				}
			}
			if end, out := b.run(b.request("echo other")); end.Code != 0 || out != "other\n" {
				t.Errorf("a run of another environment gives %+v, %q", end, out)
			}
		})
	}
}

func TestRunsThatDoNotStart(t *testing.T) {
	tests := []struct {
		fault  string
		reason Reason
		says   string
	}{
		{"refuse", Refused, "no forks today"},
		{"deaf", NoResponse, "has not answered within 100ms"},
		{"late", NoResponse, "has not answered within 100ms"},
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(cfg *Config) {
				if tt.fault != "refuse" {
					cfg.Answer = 100 * time.Millisecond
				}
			})
			started := t.TempDir() + "/started"
			r := b.request("touch "+started, tt.fault)
			_, err := b.pool.Run(t.Context(), r)
			unavailable(t, err, tt.reason, tt.says)
			b.close() // has all that was forked end
			if _, err := os.Stat(started); err == nil {
				t.Error("the run was reported as not started, but has run")
			}
		})
	}
}

// TestRunThatIsCalledOffBeforeItStarts: nobody is told to run it in another way, and nothing of it runs.
func TestRunThatIsCalledOffBeforeItStarts(t *testing.T) {
	b := newBench(t, nil)
	b.run(b.request("true", "late")) // the zygote is there
	ctx, cancel := context.WithCancel(t.Context())
	started := t.TempDir() + "/started"
	done := b.start(ctx, b.request("touch "+started, "late"))
	eventually(t, "it was asked for", func() bool { return b.pool.Stats().Zygotes == 1 && b.running() == 1 })
	cancel()
	got := <-done
	var unavailable *UnavailableError
	if !errors.Is(got.err, context.Canceled) || errors.As(got.err, &unavailable) {
		t.Errorf("error is %v", got.err)
	}
	b.run(b.request("true", "late"))
	if _, err := os.Stat(started); err == nil {
		t.Error("it ran")
	}
}

// running counts the runs that have chosen a zygote.
func (b *bench) running() (count int) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	for _, z := range b.pool.zygotes {
		count += z.running
	}
	return count
}

// zygote returns the process id of the only zygote.
func (b *bench) zygote() int {
	b.t.Helper()
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	if len(b.pool.zygotes) != 1 {
		b.t.Fatalf("there are %d zygotes", len(b.pool.zygotes))
	}
	return b.pool.zygotes[0].pid
}

func TestRunsOutliveTheirZygote(t *testing.T) {
	tests := []struct {
		why, script, fault string
		want               End
	}{
		{"it ends well", "exit 0", "", End{Modules: map[string]int{"forked": 1}}},
		{"it fails", "exit 3", "", End{Exit: process.Exit{Code: 3}, Modules: map[string]int{"forked": 1}}},
		{"it does not say how it ends", "exit 3", "dumb", End{Exit: process.Exit{Code: -1}}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			dir := t.TempDir()
			r := b.request("touch started; until test -e go; do sleep 0.01; done; "+tt.script, tt.fault)
			r.Dir = dir
			done := b.start(t.Context(), r)
			eventually(t, "it has started", func() bool { return exists(dir + "/started") })
			old := b.zygote()
			if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			eventually(t, "its death was noticed", func() bool { return len(b.noted(Died)) == 1 })
			if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			got := <-done
			if got.err != nil || got.end.Code != tt.want.Code || len(got.end.Modules) != len(tt.want.Modules) || got.end.Stopped {
				t.Errorf("ended with %+v, want %+v", got, tt.want)
			}
			if left := living(r.Mark); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestDeadZygoteIsReplaced: at once if it has lived for long, else after a pause.
func TestDeadZygoteIsReplaced(t *testing.T) {
	clk := newShiftedClock()
	b := newBench(t, func(cfg *Config) { cfg.Clock = clk })
	b.run(b.request("true"))
	clk.shift(goodLife)
	if err := syscall.Kill(b.zygote(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another one is there without anyone's asking", func() bool { return len(b.noted(IsReady)) == 2 })
	if err := syscall.Kill(b.zygote(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its death was noticed", func() bool { return len(b.noted(Died)) == 2 })
	_, err := b.pool.Run(t.Context(), b.request("true"))
	unavailable(t, err, StartFailed, "its zygote died: it was ended by signal 9 (killed)")
	clk.shift(firstPause)
	b.run(b.request("true"))
	if n := len(b.starts()); n != 3 {
		t.Errorf("%d zygotes were started, want 3", n)
	}
}

// TestPauses: after three failures in a row none is started for a long time.
func TestPauses(t *testing.T) {
	clk := newShiftedClock()
	b := newBench(t, func(cfg *Config) { cfg.Clock = clk })
	for i, pause := range []time.Duration{time.Second, 2 * time.Second, 10 * time.Minute, 10 * time.Minute} {
		for range 3 {
			_, err := b.pool.Run(t.Context(), b.request("true", "crash"))
			unavailable(t, err, StartFailed, "cannot import the universe")
		}
		if told := b.noted(StartFails); len(told) != i+1 || told[i].Pause != pause {
			t.Fatalf("after %d failures told was %+v", i+1, told)
		}
		clk.shift(pause)
	}
	if told := b.noted(FellBack); len(told) != 1 {
		t.Errorf("that runs fall back was told %d times", len(told))
	}
}

func TestStuckZygoteIsLeftBehind(t *testing.T) {
	b := newBench(t, func(cfg *Config) { cfg.Answer = 2 * time.Second })
	b.run(b.request("true"))
	dir := t.TempDir()
	r := b.request("touch started; until test -e go; do sleep 0.01; done")
	r.Dir = dir
	done := b.start(t.Context(), r)
	eventually(t, "it has started", func() bool { return exists(dir + "/started") })
	old := b.zygote()
	if err := syscall.Kill(old, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err := b.pool.Run(t.Context(), b.request("true"))
	unavailable(t, err, NoResponse, "has not answered")
	eventually(t, "it is gone", func() bool { return !exists("/proc/" + strconv.Itoa(old)) })
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil || got.end.Code != 0 {
		t.Errorf("the run that was under way ended with %+v", got)
	}
}

// TestZygoteThatKeepsSilentAboutAnEnd: the process itself is watched too.
func TestZygoteThatKeepsSilentAboutAnEnd(t *testing.T) {
	b := newBench(t, func(cfg *Config) { cfg.Answer = time.Second })
	end, out := b.run(b.request("echo x; exit 4", "secretive"))
	if end.Code != 4 || out != "x\n" {
		t.Errorf("ended with %+v, %q", end, out)
	}
}
