package ansible

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/privatedir"
)

func TestResourcePath(t *testing.T) {
	long := strings.Repeat("g", 300)
	tests := []struct {
		why   string
		owner engine.Owner
		want  string
	}{
		{"as the old operator laid it out", engine.Owner{APIVersion: "a.b/v1", Kind: "Foo", Namespace: "n", Name: "x.y"}, "a.b/v1/Foo/n/x.y"},
		{"core group and cluster scope leave no gap", engine.Owner{APIVersion: "v1", Kind: "Node", Name: "x"}, "v1/Node/x"},
		{"nothing leads elsewhere", engine.Owner{APIVersion: "../v1", Kind: "..", Namespace: "/etc", Name: "a/../b"},
			"%2E./v1/%2E./%2Fetc/a%2F..%2Fb"},
		{"odd characters", engine.Owner{APIVersion: "v1", Kind: "é\n", Name: ".hidden%"}, "v1/%C3%A9%0A/%2Ehidden%25"},
	}
	for _, tt := range tests {
		got := resourcePath(tt.owner)
		if got != tt.want || !filepath.IsLocal(got) {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
	first, second := segment(long+"1"), segment(long+"2")
	if len(first) > 255 || first == second {
		t.Errorf("long names become %q and %q", first, second)
	}
}

func FuzzSegment(f *testing.F) {
	f.Add("..")
	f.Add("a/b\x00")
	f.Fuzz(func(t *testing.T, name string) {
		if got := segment(name); name != "" && (filepath.Base(got) != got || got == "." || got == ".." || len(got) > 255) {
			t.Errorf("%q becomes %q", name, got)
		}
	})
}

func openTestWorkspace(t *testing.T, dir string, artifactBytes int64) *Workspace {
	t.Helper()
	w, err := OpenWorkspace(dir, artifactBytes)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWorkspaceBelongsToOneProcess(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	first := openTestWorkspace(t, "", 0)
	if want := filepath.Join(os.TempDir(), "ansible-operator"); first.Dir() != want {
		t.Errorf("the first one is %s, want %s", first.Dir(), want)
	}
	if _, err := OpenWorkspace(first.Dir(), 0); !errors.Is(err, privatedir.ErrBusy) {
		t.Errorf("a second one in the same place: %v", err)
	}
	second := openTestWorkspace(t, "", 0)
	if second.Dir() == first.Dir() || !strings.HasPrefix(second.Dir(), os.TempDir()) {
		t.Errorf("the second one is %s", second.Dir())
	}
	for _, w := range []*Workspace{first, second} {
		if info, err := os.Stat(w.Dir()); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", w.Dir(), info, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(second.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the second one is left: %v", err)
	}
	if third := openTestWorkspace(t, "", 0); third.Dir() != first.Dir() {
		t.Errorf("the place of the first one is not taken again but %s", third.Dir())
	}
}

func TestWorkspaceRefusesTraps(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	target := t.TempDir()
	if err := os.Symlink(target, filepath.Join(temp, "ansible-operator")); err != nil {
		t.Fatal(err)
	}
	w := openTestWorkspace(t, "", 0)
	defer func() { _ = w.Close() }()
	if strings.HasSuffix(w.Dir(), "ansible-operator") {
		t.Errorf("a link was followed to %s", w.Dir())
	}
	if left, _ := os.ReadDir(target); len(left) > 0 {
		t.Errorf("written to where the link leads: %v", left)
	}
}

// Covers AO 10.4 no. 3.
func TestWorkspaceAfterACrash(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "w")
	w := openTestWorkspace(t, dir, DefaultArtifactBytes)
	job := newJob()
	job.Inputs = map[string]any{"password": "hunter2"}
	job.Kubeconfig = []byte("{}")
	run, err := w.openRun(job)
	if err != nil {
		t.Fatal(err)
	}
	w.artifacts.begin(run.resource, job.ID, 0)
	if err := os.Mkdir(run.path("tmp", "closed"), 0o500); err != nil { // a task may do so
		t.Fatal(err)
	}
	_ = w.private.Unlock() // as the kernel does for a process that was killed

	w = openTestWorkspace(t, dir, DefaultArtifactBytes)
	defer func() { _ = w.Close() }()
	b := &bench{t: t, workspace: w}
	b.onlyArtifactsLeft(job)
	if status := b.artifact(job, "status"); status != "interrupted" {
		t.Errorf("status is %q", status)
	}
}

// leave makes the artifacts of an ended run with this much output.
func leave(t *testing.T, w *Workspace, owner engine.Owner, id string, keep, size int) {
	t.Helper()
	job := newJob()
	job.Owner, job.ID = owner, id
	run, err := w.openRun(job)
	if err != nil {
		t.Fatal(err)
	}
	defer run.close()
	a := w.artifacts.begin(run.resource, id, keep)
	out := a.stdout()
	_, _ = out.Write(make([]byte, size))
	out.close()
	a.event(1, "0-1", []byte("{}"))
	a.finish("successful", 0, "")
}

// kept lists the runs of a resource whose artifacts are there.
func kept(w *Workspace, owner engine.Owner) string {
	entries, _ := os.ReadDir(filepath.Join(w.runnerDir(), resourcePath(owner), "artifacts"))
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

func TestRotation(t *testing.T) {
	one := engine.Owner{APIVersion: "v1", Kind: "Foo", Namespace: "n", Name: "one"}
	other := engine.Owner{APIVersion: "v1", Kind: "Foo", Namespace: "n", Name: "other"}
	tests := []struct {
		why  string
		keep int
		want string
	}{
		{"one was enough to break the old operator", 1, "latest run-4"},
		{"so were two", 2, "latest run-3 run-4"},
		{"the link does not count", 3, "latest run-2 run-3 run-4"},
		{"more than there are", 9, "latest run-0 run-1 run-2 run-3 run-4"},
		{"no bound", 0, "latest run-0 run-1 run-2 run-3 run-4"},
	}
	for _, tt := range tests {
		w := openTestWorkspace(t, filepath.Join(t.TempDir(), "w"), DefaultArtifactBytes)
		for i := range 5 {
			leave(t, w, one, fmt.Sprintf("run-%d", i), tt.keep, 10)
			leave(t, w, other, "same", 1, 10)
		}
		if got := kept(w, one); got != tt.want {
			t.Errorf("%s: kept %s, want %s", tt.why, got, tt.want)
		}
		if got := kept(w, other); got != "latest same" {
			t.Errorf("%s: of the other resource kept %s", tt.why, got)
		}
		latest, err := os.Readlink(filepath.Join(w.runnerDir(), resourcePath(one), "artifacts", "latest"))
		if latest != "run-4" || err != nil {
			t.Errorf("%s: latest is %s, %v", tt.why, latest, err)
		}
		_ = w.Close()
	}
}

// TestBudget: many resources, few runs each, which is what filled disks.
// Covers AO 10.4 no. 1, UP B1.
func TestBudget(t *testing.T) {
	const budget = 1 << 20
	dir := filepath.Join(t.TempDir(), "w")
	w := openTestWorkspace(t, dir, budget)
	var owners []engine.Owner
	for i := range 50 {
		owner := engine.Owner{APIVersion: "a.b/v1", Kind: "Foo", Namespace: fmt.Sprintf("ns-%d", i), Name: "x"}
		owners = append(owners, owner)
		for j := range 3 {
			leave(t, w, owner, fmt.Sprintf("run-%d-%d", i, j), 20, 50_000)
		}
		if used := diskUsage(t, w.runnerDir()); used > budget+100*block { // directories above the artifacts are not counted
			t.Fatalf("%d bytes are used", used)
		}
	}
	if got := kept(w, owners[49]); got != "latest run-49-0 run-49-1 run-49-2" {
		t.Errorf("of the newest resource are kept %s", got)
	}
	if got := kept(w, owners[0]); got != "" {
		t.Errorf("of the oldest resource are kept %s", got)
	}
	if entries, _ := os.ReadDir(filepath.Join(w.runnerDir(), "a.b", "v1", "Foo")); len(entries) > 10 {
		t.Errorf("%d directories are left, most of them empty", len(entries))
	}
	used := w.artifacts.used
	_ = w.Close()

	w = openTestWorkspace(t, dir, budget)
	if w.artifacts.used != used {
		t.Errorf("a new process counts %d bytes, the old one %d", w.artifacts.used, used)
	}
	_ = w.Close()
	w = openTestWorkspace(t, dir, budget/4)
	defer func() { _ = w.Close() }()
	if w.artifacts.used > budget/4 {
		t.Errorf("a smaller budget leaves %d bytes", w.artifacts.used)
	}
	for _, owner := range owners {
		w.Forget(owner)
	}
	if entries, _ := os.ReadDir(w.runnerDir()); len(entries) > 0 || w.artifacts.used != 0 {
		t.Errorf("%d bytes and %v are left after all resources are gone", w.artifacts.used, entries)
	}
}

func diskUsage(t *testing.T, dir string) (size int64) {
	t.Helper()
	return treeSize(dir)
}

func TestOneRunCannotExceedTheBudget(t *testing.T) {
	owner := engine.Owner{APIVersion: "v1", Kind: "Foo", Name: "x"}
	w := openTestWorkspace(t, filepath.Join(t.TempDir(), "w"), 10*block)
	defer func() { _ = w.Close() }()
	leave(t, w, owner, "big", 0, 1<<20)
	if used := diskUsage(t, filepath.Join(w.runnerDir(), resourcePath(owner), "artifacts")); used > 12*block {
		t.Errorf("%d bytes are used", used)
	}
	leave(t, w, owner, "next", 0, 10)
	if got := kept(w, owner); got != "latest next" {
		t.Errorf("kept %s", got)
	}
	none := openTestWorkspace(t, filepath.Join(t.TempDir(), "w"), 0)
	defer func() { _ = none.Close() }()
	leave(t, none, owner, "x", 0, 10)
	if entries, _ := os.ReadDir(none.runnerDir()); len(entries) > 0 {
		t.Errorf("with no budget there is %v", entries)
	}
}

func TestArtifactsOfAResourceNamedArtifacts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "w")
	w := openTestWorkspace(t, dir, DefaultArtifactBytes)
	owner := engine.Owner{APIVersion: "v1", Kind: "Foo", Namespace: "artifacts", Name: "artifacts"}
	leave(t, w, owner, "run", 0, 10)
	used := w.artifacts.used
	_ = w.Close()
	w = openTestWorkspace(t, dir, DefaultArtifactBytes)
	defer func() { _ = w.Close() }()
	if diff := cmp.Diff(used, w.artifacts.used); diff != "" || len(w.artifacts.runs) != 1 {
		t.Errorf("%d runs (-before +after):\n%s", len(w.artifacts.runs), diff)
	}
}

// TestSweep: a module that is killed cannot remove its files. They are shared with runs under way, whose modules may
// be at work in files of the same names.
func TestSweep(t *testing.T) {
	w := openTestWorkspace(t, filepath.Join(t.TempDir(), "w"), 0)
	defer func() { _ = w.Close() }()
	payload := func(name string, age time.Duration) string {
		dir := filepath.Join(w.tempDir(), "ansible_"+name+"_payload_x")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chtimes(dir, time.Time{}, time.Now().Add(-age))); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	open := func() *runDir {
		job := newJob()
		job.Owner.Name = job.ID
		d, err := w.openRun(job)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	old, others := payload("old", time.Hour), filepath.Join(w.tempDir(), "k8srcp-1.json")
	if err := os.WriteFile(others, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open().close()
	if !exists(old) {
		t.Error("after a good run files are looked for")
	}
	running, killed := open(), open()
	fresh := payload("fresh", -time.Second)
	killed.abandoned = true
	killed.close()
	if exists(old) || !exists(fresh) {
		t.Errorf("after a bad run, with one under way: the old files are there: %v, those of now: %v", exists(old), exists(fresh))
	}
	running.close()
	if exists(fresh) || !exists(others) {
		t.Errorf("after the last run: the files are there: %v, others: %v", exists(fresh), exists(others))
	}
}
