package ansible

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// hanging never ends: a task with a child, and a daemon in a session of its own.
const hanging = `
- name: leave a daemon behind
  command: sleep 4000
  async: 5000
  poll: 0
- name: wait for ever
  shell: sleep 5000 & sleep 6000`

// hangs reports whether all of a hanging run is under way.
func hangs(job engine.Job) bool {
	all := fmt.Sprint(processesOf(job))
	return strings.Contains(all, "sleep 4000") && strings.Contains(all, "sleep 5000") && strings.Contains(all, "sleep 6000")
}

// Covers UP B7.
func TestTimeoutEndsEverything(t *testing.T) { eachExecutor(t, timeoutEndsEverything) }

func timeoutEndsEverything(t *testing.T, b *bench) {
	t.Helper()
	clk := newManualClock()
	b.configure = func(cfg *Config) { cfg.Clock = clk }
	job := newJob()
	job.Timeout = time.Hour
	done := b.start(t.Context(), b.play(hanging), job)
	eventually(t, "the run hangs", func() bool { return hangs(job) })
	clk.expire(t, time.Hour)
	told := time.Now()
	got := <-done
	if took := time.Since(told); took > 10*time.Second {
		t.Errorf("took %v to end", took)
	}
	if got.Outcome != engine.TimedOut || got.Reason != engine.ReasonDeadlineExceeded || len(got.Failures) > 0 {
		t.Errorf("result is %+v", got)
	}
	want := `the run was ended after its timeout of 1h0m0s in task "wait for ever" (playbook.yml:8)`
	if got.Message != want {
		t.Errorf("message is %q, want %q", got.Message, want)
	}
	noneLeft(t, job)
	b.onlyArtifactsLeft(job)
	if status := b.artifact(job, "status"); status != "timeout" {
		t.Errorf("status is %q", status)
	}
}

func TestCancelEndsEverything(t *testing.T) { eachExecutor(t, cancelEndsEverything) }

func cancelEndsEverything(t *testing.T, b *bench) {
	t.Helper()
	job := newJob()
	job.Timeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := b.start(ctx, b.play(hanging), job)
	eventually(t, "the run hangs", func() bool { return hangs(job) })
	cancel()
	if got := <-done; got.Outcome != engine.Cancelled || got.Reason != engine.ReasonCancelled {
		t.Errorf("result is %+v", got)
	}
	noneLeft(t, job)
	b.onlyArtifactsLeft(job)
}

// Covers AO 10.2 no. 1.
func TestKilledPlay(t *testing.T) { eachExecutor(t, killedPlay) }

func killedPlay(t *testing.T, b *bench) {
	t.Helper()
	job := newJob()
	done := b.start(t.Context(), b.play(hanging), job)
	eventually(t, "the run hangs", func() bool { return hangs(job) })
	if err := syscall.Kill(leader(t, job), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if got.Outcome != engine.Transient || got.Reason != engine.ReasonKilled ||
		got.Message != map[Executor]string{Warm: program, Direct: program, Runner: runnerProgram}[b.executor]+" was ended by signal 9 (killed)" {
		t.Errorf("result is %+v", got)
	}
	noneLeft(t, job)
	b.onlyArtifactsLeft(job)
	if rc := b.artifact(job, "rc"); rc != "-1" {
		t.Errorf("rc is %q", rc)
	}
}

// leader returns the process that the engine has started itself, or has had forked.
func leader(t *testing.T, job engine.Job) int {
	t.Helper()
	for pid, command := range processesOf(job) {
		parent := parentOf(t, pid)
		if parent == os.Getpid() || strings.Contains(command, "warm/start.py") && parentOf(t, parent) == os.Getpid() {
			return pid
		}
	}
	t.Fatal("the run has no process")
	return 0
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0 // it is gone
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}

// Covers UP B6.
func TestDetachedDaemonOutlivesAGoodRun(t *testing.T) {
	eachExecutor(t, detachedDaemonOutlivesAGoodRun)
}

func detachedDaemonOutlivesAGoodRun(t *testing.T, b *bench) {
	t.Helper()
	job := newJob()
	got := b.run(b.play("- command: sleep 4000\n  async: 5000\n  poll: 0"), job)
	if got.Outcome != engine.Changed {
		t.Errorf("result is %+v", got)
	}
	eventually(t, "the async job is still there", func() bool {
		return strings.Contains(fmt.Sprint(processesOf(job)), "sleep 4000")
	})
	for pid := range processesOf(job) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestLongOutput(t *testing.T) {
	b := newBench(t)
	var heard int
	b.configure = func(cfg *Config) {
		cfg.Output = func(engine.Job) io.Writer { return writerFunc(func(p []byte) { heard += len(p) }) }
	}
	b.file("callback_plugins/chatty.py", `
from ansible.plugins.callback import CallbackBase
class CallbackModule(CallbackBase):
    CALLBACK_NAME = 'chatty'
    def v2_playbook_on_play_start(self, play):
        for n in range(50):
            self._display.display('x' * 1000000)
`)
	job := newJob()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := b.run(b.play("- debug: {msg: the last words}"), job); got.Outcome != engine.Succeeded {
		t.Errorf("result is %+v", got)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
	if heard < 50_000_000 {
		t.Errorf("only %d bytes of output came through", heard)
	}
	stdout := b.artifact(job, "stdout")
	if len(stdout) > maxOutputHead+maxOutputTail+100 || !strings.Contains(stdout, "bytes omitted]") ||
		!strings.Contains(stdout, "the last words") {
		t.Errorf("%d bytes of output are kept", len(stdout))
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// Covers AO 10.2 no. 4.
func TestRunsLeaveNothing(t *testing.T) {
	b := newBench(t)
	workspace, err := OpenWorkspace(filepath.Join(t.TempDir(), "none"), 0) // no artifacts
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = workspace.Close() }()
	b.workspace = workspace
	temp, home := t.TempDir(), t.TempDir()
	b.configure = func(cfg *Config) {
		cfg.Environ = func() []string { return append(os.Environ(), "TMPDIR="+temp, "HOME="+home) }
	}
	e := b.play("- debug: {msg: hi}\n- command: 'true'")
	run := func(name string) engine.Job {
		job := newJob()
		job.Owner.Name = name
		job.Kubeconfig = []byte("{}")
		job.Inputs = map[string]any{"password": "hunter2"}
		if got := b.run(e, job); got.Outcome != engine.Changed {
			t.Errorf("result is %+v", got)
		}
		return job
	}
	run("first")
	files, descriptors, goroutines := b.files(), openDescriptors(t), runtime.NumGoroutine()
	for i := range 3 {
		var all sync.WaitGroup
		for j := range 4 {
			all.Go(func() { noneLeft(t, run(fmt.Sprintf("owner-%d-%d", i, j))) })
		}
		all.Wait()
	}
	if diff := cmp.Diff(files, b.files()); diff != "" {
		t.Errorf("files after one run and after more (-one +more):\n%s", diff)
	}
	eventually(t, "goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines })
	if now := openDescriptors(t); now > descriptors {
		t.Errorf("%d descriptors are open, %d were", now, descriptors)
	}
	for _, pattern := range []string{temp + "/*", home + "/.ansible/*"} { // Ansible makes ~/.ansible itself
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// onlyArtifactsLeft fails if a run has left other files than its artifacts, or any that others may read.
func (b *bench) onlyArtifactsLeft(job engine.Job) {
	b.t.Helper()
	for _, file := range b.files() {
		mode, path, _ := strings.Cut(file, " ")
		inside := strings.Contains(path, "/artifacts/") || strings.HasSuffix(path, "/artifacts")
		above := strings.HasPrefix("runner/"+resourcePath(job.Owner), path)
		if !inside && !above && path != "async" && path != "running" && path != "lock" && path != "tmp" {
			b.t.Errorf("left behind: %s", file)
		}
		if mode != "drwx------" && mode != "-rw-------" && !strings.HasPrefix(mode, "L") {
			b.t.Errorf("not private: %s", file)
		}
	}
}
