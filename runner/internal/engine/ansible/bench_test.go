package ansible

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible/warm"
	"github.com/chartbook-operator/chartbook/runner/internal/process"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// bench is a workspace and a directory for content, for tests that run the real ansible-playbook.
type bench struct {
	t         *testing.T
	workspace *Workspace
	content   string // directory
	executor  Executor
	configure func(*Config)
	pool      *warm.Pool // of the executor warm; made when it is needed
	notices   notices
}

// executors are all there are.
var executors = []Executor{Warm, Direct, Runner}

// eachExecutor runs a test with each executor: what comes of a run does not depend on it.
func eachExecutor(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	for _, executor := range executors {
		t.Run(string(executor), func(t *testing.T) {
			t.Parallel()
			b := newBenchOf(t, executor)
			test(t, b)
		})
	}
}

// newBenchOf returns a bench for tests of what is particular to an executor.
func newBenchOf(t *testing.T, executor Executor) *bench {
	t.Helper()
	b := newBench(t)
	b.executor = executor
	return b
}

// runs numbers the runs of all tests.
var runs atomic.Int64

func newBench(t *testing.T) *bench {
	t.Helper()
	needAnsible(t)
	workspace, err := OpenWorkspace(filepath.Join(t.TempDir(), "workspace"), DefaultArtifactBytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := workspace.Close(); err != nil {
			t.Error(err)
		}
	})
	content, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, workspace: workspace, content: content}
}

// needAnsible skips a test where Ansible is not installed; on CI it has to be.
func needAnsible(tb testing.TB) {
	tb.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") != "" {
			tb.Fatal(err)
		}
		tb.Skip(err)
	}
}

// file writes a file below the content directory and returns its path.
func (b *bench) file(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.content, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// play writes a playbook with these tasks and returns an engine for it.
func (b *bench) play(tasks string) *Engine {
	b.t.Helper()
	return b.playbook("- hosts: localhost\n  gather_facts: false\n  tasks:\n" + indent(tasks))
}

func (b *bench) playbook(text string) *Engine {
	b.t.Helper()
	return b.engine(Content{Playbook: b.file("playbook.yml", text)})
}

func (b *bench) engine(content Content) *Engine {
	b.t.Helper()
	cfg := Config{Workspace: b.workspace, Main: content, Executor: b.executor}
	if b.executor == Warm {
		cfg.Zygotes = b.zygotes()
	}
	if b.configure != nil {
		b.configure(&cfg)
	}
	e, err := New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

func indent(tasks string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(tasks), "\n", "\n    ") + "\n"
}

func newJob() engine.Job {
	return engine.Job{
		ID: fmt.Sprintf("test-%d-%d", os.Getpid(), runs.Add(1)),
		Owner: engine.Owner{
			APIVersion: "demo.example.com/v1alpha1", Kind: "Sample", Namespace: "default", Name: "one",
		},
		Mode: engine.Reconcile,
	}
}

// events collects a run's progress.
type events struct {
	mu  sync.Mutex
	all []engine.Event
}

func (e *events) add(event engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
}

// of returns the tasks of the events of one kind.
func (e *events) of(kind engine.EventKind) (tasks []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range e.all {
		if event.Kind == kind {
			tasks = append(tasks, event.Task)
		}
	}
	return tasks
}

func (b *bench) run(e *Engine, job engine.Job) engine.Result {
	b.t.Helper()
	result, err := e.Run(b.t.Context(), job)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// files lists what is in the workspace but for the engine's own plugins, with modes.
func (b *bench) files() []string {
	b.t.Helper()
	var found []string
	err := filepath.WalkDir(b.workspace.Dir(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, _ := filepath.Rel(b.workspace.Dir(), path)
		if relative == "python" || relative == "zygotes" {
			return fs.SkipDir
		}
		info, err := entry.Info()
		if err == nil && relative != "." {
			found = append(found, fmt.Sprintf("%s %s", info.Mode(), relative))
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// artifact reads a file of a run's artifacts.
func (b *bench) artifact(job engine.Job, name string) string {
	b.t.Helper()
	text, err := os.ReadFile(b.artifactPath(job, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

func (b *bench) artifactPath(job engine.Job, name string) string {
	return filepath.Join(b.workspace.runnerDir(), resourcePath(job.Owner), "artifacts", job.ID, name)
}

// processesOf returns the living processes that belong to a run, with their command lines.
func processesOf(job engine.Job) map[int]string {
	found := testkit.Processes(testkit.Has(runVariable + "=" + job.ID))
	for pid, line := range found {
		found[pid] = strings.ReplaceAll(line, "\x00", " ")
	}
	return found
}

// eventually fails unless what becomes true soon.
func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if check() {
			return
		}
	}
	t.Fatalf("not within three minutes: %s", what)
}

// noneLeft fails if processes of a run are alive.
func noneLeft(t *testing.T, job engine.Job) {
	t.Helper()
	var left map[int]string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if left = processesOf(job); len(left) == 0 {
			return
		}
	}
	t.Errorf("processes of the run are left: %v", left)
}

// start runs a job in the background.
func (b *bench) start(ctx context.Context, e *Engine, job engine.Job) <-chan engine.Result {
	done := make(chan engine.Result, 1)
	go func() {
		result, err := e.Run(ctx, job)
		if err != nil {
			b.t.Error(err)
		}
		done <- result
	}()
	return done
}

// countingRunner counts the programs that are run.
type countingRunner struct{ count *int }

func (r countingRunner) Run(ctx context.Context, spec process.Spec) (process.Exit, error) {
	*r.count++
	return process.OS{}.Run(ctx, spec)
}

// manualClock is the real time, but timers end only when a test says so.
type manualClock struct {
	clock.RealClock
	timers chan func()
	after  chan time.Duration
}

func newManualClock() *manualClock {
	return &manualClock{timers: make(chan func(), 10), after: make(chan time.Duration, 10)}
}

func (c *manualClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	c.timers <- f
	c.after <- d
	return c.NewTimer(time.Hour)
}

// expire ends the timer that was set first, which has to be for this long.
func (c *manualClock) expire(t *testing.T, d time.Duration) {
	t.Helper()
	f := <-c.timers
	if got := <-c.after; got != d {
		t.Errorf("timer is set for %v, want %v", got, d)
	}
	f()
}

// writeTemp writes a file into a directory of its own and returns its path.
func writeTemp(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}
