//go:build linux

package warm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

func TestStopEndsAllOfARun(t *testing.T) {
	const script = `trap "" INT TERM HUP
setsid sh -c 'trap "" INT TERM HUP; sleep 2000 & wait' >/dev/null 2>&1 </dev/null &
sleep 1000; sleep 1000`
	for _, orphaned := range []bool{false, true} {
		t.Run(fmt.Sprint("orphaned ", orphaned), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			r := b.request(script)
			ctx, cancel := context.WithCancel(t.Context())
			done := b.start(ctx, r)
			eventually(t, "all have started", func() bool { return len(living(r.Mark)) >= 4 })
			if orphaned {
				if err := syscall.Kill(b.zygote(), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				eventually(t, "its death was noticed", func() bool { return len(b.noted(Died)) == 1 })
			}
			cancel()
			got := <-done
			if got.err != nil || !got.end.Stopped || got.end.Code >= 0 {
				t.Errorf("ended with %+v", got)
			}
			if left := living(r.Mark); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
			if !orphaned && got.end.Signal != syscall.SIGKILL && got.end.Signal != syscall.SIGTERM {
				t.Errorf("the signal is %v", got.end.Signal)
			}
		})
	}
}

// TestKilledRunTakesItsDescendantsAlong: as in package process, whatever it is that killed it.
func TestKilledRunTakesItsDescendantsAlong(t *testing.T) {
	b := newBench(t, nil)
	r := b.request("setsid sleep 1000 >/dev/null 2>&1 & sleep 0.1; kill -9 $PPID; sleep 1000")
	end, _ := b.run(r)
	if end.Signal != syscall.SIGKILL || end.Code != -1 || end.Stopped || end.Modules != nil {
		t.Errorf("ended with %+v", end)
	}
	if left := living(r.Mark); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

func TestDetachedDaemonOutlivesAGoodRunAndItsZygote(t *testing.T) {
	b := newBench(t, nil)
	r := b.request("setsid sleep 1000 & exit 0")
	r.Drain = time.Millisecond
	end, _ := b.run(r)
	if end.Code != 0 || !end.Cut {
		t.Errorf("ended with %+v", end)
	}
	b.close()
	if left := living(r.Mark); len(left) != 1 {
		t.Errorf("processes that are left: %v, want one", left)
	}
	if err := (process.OS{}).EndLeftovers([]string{r.Mark}); err != nil {
		t.Error(err)
	}
}

func TestCloseWaitsForRuns(t *testing.T) {
	b := newBench(t, nil)
	dir := t.TempDir()
	r := b.request("touch started; until test -e go; do sleep 0.01; done")
	r.Dir = dir
	done := b.start(t.Context(), r)
	eventually(t, "it has started", func() bool { return exists(dir + "/started") })
	closed := make(chan error, 1)
	go func() { closed <- b.pool.Close(t.Context()) }()
	eventually(t, "nothing more is taken", func() bool {
		_, err := b.pool.Run(t.Context(), b.request("true"))
		return err != nil
	})
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil || got.end.Code != 0 {
		t.Errorf("the run ended with %+v", got)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestCloseDuringAStart(t *testing.T) {
	b := newBench(t, nil)
	b.pool.Ahead(b.request("true", "silent"))
	eventually(t, "it is being started", func() bool { return len(b.starts()) == 1 })
	began := time.Now()
	b.close()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if told := b.noted(StartFails); len(told) > 0 {
		t.Errorf("told was %+v", told)
	}
}

// remains counts what a process may leave behind.
type remains struct{ descriptors, goroutines, children, files int }

func (b *bench) remains() (r remains) {
	fds, _ := os.ReadDir("/proc/self/fd")
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(stat), ") ")
		var state string
		var parent int
		_, _ = fmt.Sscan(rest, &state, &parent)
		if parent == os.Getpid() || parent == b.zygote() {
			r.children++
		}
	}
	files, _ := filepath.Glob(b.dir + "/*/*")
	r.descriptors, r.goroutines, r.files = len(fds), runtime.NumGoroutine(), len(files)
	return r
}

func TestRunsLeaveNothing(t *testing.T) {
	b := newBench(t, nil)
	kinds := []string{"exit 0", "echo x; exit 1", "kill -9 $PPID", "echo x >&3", "sleep 0.01 & exit 0"}
	for _, script := range kinds {
		b.run(b.request(script))
	}
	before := b.remains()
	for range 5 {
		var all []<-chan result
		for _, script := range kinds {
			all = append(all, b.start(t.Context(), b.request(script)))
		}
		for _, done := range all {
			if got := <-done; got.err != nil {
				t.Error(got.err)
			}
		}
	}
	var after remains
	eventually(t, fmt.Sprintf("no more than before, %+v", before), func() bool {
		after = b.remains()
		return after.descriptors <= before.descriptors && after.goroutines <= before.goroutines &&
			after.children <= before.children && after.files <= before.files
	})
	eventually(t, "the zygote has reaped all", func() bool {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", b.zygote(), b.zygote()))
		return len(children) == 0
	})
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.zygote()))
	if len(fds) > 10 {
		t.Errorf("the zygote has %d descriptors", len(fds))
	}
}
