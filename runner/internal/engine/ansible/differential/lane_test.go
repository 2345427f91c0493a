package differential

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible/warm"
)

// lane runs one project at a time, by one executor after the other, in the same directories.
type lane struct {
	t         *testing.T
	dir       string
	workspace *ansible.Workspace
	zygotes   *warm.Pool
	core      core
}

// parts are the directories of a lane that are emptied before each executor's turn.
var parts = []string{"content", "home", "remote"}

// runs numbers the runs of all lanes.
var runs atomic.Int64

// newLanes returns the lanes of a test, which whoever uses one takes out and puts back.
func newLanes(t *testing.T) chan *lane {
	t.Helper()
	core := findCore(t)
	t.Log(core.version)
	free := make(chan *lane, lanes)
	for range lanes {
		free <- newLane(t, core)
	}
	return free
}

func newLane(t *testing.T, core core) *lane {
	t.Helper()
	dir, err := os.MkdirTemp("", "differential-") //nolint:usetesting // sockets in it need a short path
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	workspace, err := ansible.OpenWorkspace(filepath.Join(dir, "work"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := workspace.Close(); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	l := &lane{t: t, dir: dir, workspace: workspace, core: core}
	l.startPool()
	return l
}

// startPool makes the pool of warm runs. It is patient, so that no run falls back for want of time, and soon gives up zygotes
// that others are to take the place of.
func (l *lane) startPool() {
	cfg := l.workspace.PoolConfig(func(n warm.Notice) {
		if n.What == warm.Died {
			l.t.Errorf("a zygote has ended that should not have: %v %s", n.Err, n.Detail)
		}
	})
	cfg.Patience, cfg.StartTimeout = 10*time.Minute, 10*time.Minute
	cfg.Limit, cfg.MinIdle = 3, time.Nanosecond
	l.zygotes = warm.New(cfg)
	l.t.Cleanup(func() {
		if err := l.zygotes.Close(context.Background()); err != nil {
			l.t.Error(err)
		}
	})
}

func (l *lane) path(part string) string { return filepath.Join(l.dir, part) }

// empty removes what the project before left and makes the files of this one.
func (l *lane) empty(t *testing.T, p project) {
	t.Helper()
	for _, part := range parts {
		if err := os.RemoveAll(l.path(part)); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(l.path(part), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	caches, _ := filepath.Glob(l.path("work/tmp/*")) // of clients: what the cluster serves
	for _, path := range caches {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	p.write(t, l.path("content"))
}

// names replaces the names of directories that projects use.
func (l *lane) names(text string) string {
	for _, part := range parts {
		text = strings.ReplaceAll(text, "{"+part+"}", l.path(part))
	}
	return strings.ReplaceAll(text, "{python}", l.core.python)
}

// environ is the operator's environment. It is the same for all projects, so that they share a zygote.
func (l *lane) environ(without []string) []string {
	env := map[string]string{
		"HOME": l.path("home"), "USER": "tester", "LOGNAME": "tester", "LANG": "C.UTF-8",
		"PATH":                     "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"ANSIBLE_CALLBACK_PLUGINS": recorderDir(l.t),
		// Outside of what is wiped after a run, so that what tasks leave behind can be seen.
		"ANSIBLE_REMOTE_TMP": l.path("remote"),
		// By default it is that of the user's entry among the accounts, which has another home.
		"ANSIBLE_ASYNC_DIR": filepath.Join(l.path("home"), ".ansible_async"),
	}
	maps.Copy(env, l.core.env)
	var entries []string
	for name, value := range env {
		entries = append(entries, name+"="+value)
	}
	return omit(entries, without)
}

// omit leaves out the entries of some variables.
func omit(entries, names []string) (kept []string) {
	for _, entry := range entries {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(names, name) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// run runs one step of a project by one executor.
func (l *lane) run(t *testing.T, s step, executor ansible.Executor, with surroundings) record {
	t.Helper()
	var stdout output
	e := l.engine(t, s, executor, &stdout)
	events := filepath.Join(l.dir, "events")
	if err := os.RemoveAll(events); err != nil {
		t.Fatal(err)
	}
	job := l.job(s, with)
	job.Env["DIFFERENTIAL_EVENTS"] = events
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if s.Cancel != "" {
		go cancelAt(ctx, filepath.Join(l.path("content"), s.Cancel), cancel)
	}
	before := l.files(t)
	result, err := e.Run(ctx, job)
	if err != nil {
		t.Fatalf("%s: %v", executor, err)
	}
	r := record{
		result:    result,
		code:      l.artifact(job, "rc"),
		stdout:    stdout.String(),
		stderr:    l.artifact(job, "stderr"),
		events:    append(readEvents(t, events), l.engineEvents(t, job)...),
		processes: endProcesses(t, job.ID),
	}
	r.files = changes(before, l.files(t))
	return r.normal(l.constants(job, with))
}

// cancelAt calls cancel as soon as a file is there.
func cancelAt(ctx context.Context, path string, cancel func()) {
	for ctx.Err() == nil {
		if _, err := os.Stat(path); err == nil {
			cancel()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (l *lane) engine(t *testing.T, s step, executor ansible.Executor, stdout *output) *ansible.Engine {
	t.Helper()
	content := ansible.Content{RoleName: s.RoleName}
	if s.Role != "" {
		content.Role = filepath.Join(l.path("content"), s.Role)
	} else {
		content.Playbook = filepath.Join(l.path("content"), s.Playbook)
	}
	e, err := ansible.New(ansible.Config{
		Workspace: l.workspace,
		Main:      content,
		Executor:  executor,
		Zygotes:   l.zygotes,
		Preload:   []string{"kubernetes.core"},
		Verbosity: s.Verbosity,
		ExtraArgs: l.names(s.Args),
		Output:    func(engine.Job) io.Writer { return stdout },
		Environ:   func() []string { return l.environ(s.Unset) },
		LookPath:  l.core.lookPath,
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// job is the job of one step.
func (l *lane) job(s step, with surroundings) engine.Job {
	job := engine.Job{
		ID:         fmt.Sprintf("diff-%d-%d", os.Getpid(), runs.Add(1)),
		Owner:      engine.Owner{APIVersion: "demo.example.com/v1", Kind: "Sample", Namespace: "default", Name: "one"},
		Mode:       engine.Reconcile,
		Inputs:     merged(with.inputs, s.Inputs),
		Env:        map[string]string{},
		Kubeconfig: with.kubeconfig,
	}
	if s.Vault != "" {
		job.VaultPassword = []byte(s.Vault)
	}
	for name, value := range s.Env {
		job.Env[name] = l.names(value)
	}
	return job
}

// artifacts is where a run's artifacts are.
func (l *lane) artifacts(job engine.Job) string {
	return filepath.Join(l.workspace.Dir(), "runner/demo.example.com/v1/Sample/default/one/artifacts", job.ID)
}

// artifact reads a file of a run's artifacts, empty if there is none.
func (l *lane) artifact(job engine.Job, name string) string {
	text, err := os.ReadFile(filepath.Join(l.artifacts(job), name))
	if err != nil && !os.IsNotExist(err) {
		l.t.Error(err)
	}
	return string(text)
}

// output keeps what a run prints.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
