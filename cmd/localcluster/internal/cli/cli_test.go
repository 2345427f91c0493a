package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/procs"
)

// call runs the command line and gives the exit code and what was printed.
func call(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Main(args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestErrorsAreOneLineWithAnExitCode(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(foreign, "thesis.tex")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	for _, row := range []struct {
		args string
		code int
		want string
	}{
		{"up", exitUsage, "--dir is missing"},
		{"down", exitUsage, "--dir is missing"},
		{"up --dir d --port 70000", exitUsage, "--port 70000"},
		{"up --dir d --nodes 0", exitUsage, "--nodes 0"},
		{"up --dir d --wait 0s", exitUsage, "--wait 0s"},
		{"up --dir d --wait soon", exitUsage, "see localcluster up --help"},
		{"up --dir d extra", exitUsage, `"extra"`},
		{"up --colour", exitUsage, "--colour"},
		{"start", exitUsage, `unknown command "start"`},
		{"restart --dir d", exitUsage, "etcd, apiserver"},
		{"restart --dir d kubelet", exitUsage, `"kubelet"`},
		{"restart --dir " + missing + " etcd", exitFailed, "localcluster up --dir " + missing},
		{"status --dir " + missing, exitFailed, "localcluster up --dir " + missing},
		{"up --dir " + foreign, exitFailed, "an empty or a new directory"},
		{"run --dir " + foreign, exitFailed, "an empty or a new directory"},
		{"up --dir " + file, exitFailed, "choose one that you may write to"},
		{"down --dir " + foreign, exitFailed, "nothing was removed"},
	} {
		code, _, stderr := call(strings.Fields(row.args)...)
		if code != row.code || !strings.Contains(stderr, row.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q; want %d and %q in one line", row.args, code, stderr, row.code, row.want)
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("a file of others was removed")
	}
}

func TestNoCommandShowsTheHelp(t *testing.T) {
	if code, stdout, _ := call(); code != exitUsage || !strings.Contains(stdout, "Available Commands") {
		t.Errorf("exit code %d, %q", code, stdout)
	}
}

func TestHelpHidesWhatUsersNeverCall(t *testing.T) {
	code, stdout, _ := call("--help")
	if code != exitDone || strings.Contains(stdout, "supervise ") || strings.Contains(stdout, "--version") {
		t.Errorf("exit code %d, %q", code, stdout)
	}
	for _, command := range []string{"up", "down", "status", "run", "restart", "version", "completion"} {
		if !strings.Contains(stdout, "\n  "+command+" ") {
			t.Errorf("the help lacks %s", command)
		}
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, stdout, _ := call("completion", shell); code != exitDone || !strings.Contains(stdout, "localcluster") {
			t.Errorf("%s: exit code %d", shell, code)
		}
	}
}

func TestVersionNamesEveryPart(t *testing.T) {
	code, stdout, _ := call("version")
	for _, part := range []string{"Kubernetes", "etcd", "kwok", "Go "} {
		if code != exitDone || !strings.Contains(stdout, part) {
			t.Errorf("exit code %d, %q lacks %s", code, stdout, part)
		}
	}
}

func TestDownIsContentWithNothing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	if code, _, stderr := call("down", "--dir", missing); code != exitDone {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestDownClearsWhatAKilledClusterLeft(t *testing.T) {
	dir := layout.Dir(filepath.Join(t.TempDir(), "d"))
	lock, err := layout.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Prepare(); err != nil {
		t.Fatal(err)
	}
	gone := procs.ID{PID: os.Getpid(), StartTicks: 1} // the id was given to another process since
	if err := layout.WriteStatus(dir, layout.Status{Phase: layout.Ready, Supervisor: gone}); err != nil {
		t.Fatal(err)
	}
	lock.Release()
	if code, _, stderr := call("status", "--dir", string(dir)); code != exitFailed || !strings.Contains(stderr, "supervisor was killed") {
		t.Errorf("status: exit code %d, %q", code, stderr)
	}
	if code, _, stderr := call("down", "--dir", string(dir)); code != exitDone {
		t.Fatalf("down: exit code %d, %q", code, stderr)
	}
	if _, err := os.Lstat(string(dir)); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
}

func TestStatusTellsWhyAStartFailed(t *testing.T) {
	dir := layout.Dir(t.TempDir())
	if err := layout.WriteStatus(dir, layout.Status{Phase: layout.Failed, Error: "etcd ended early"}); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := call("status", "--dir", string(dir))
	if code != exitFailed || !strings.Contains(stderr, "etcd ended early") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestWithParentEndsWithTheParent(t *testing.T) {
	parents := make(chan int, 3)
	parents <- 10 // at the start
	tick := make(chan time.Time)
	ctx, cancel := withParentOf(t.Context(), func() int { return <-parents }, tick)
	defer cancel()
	parents <- 10
	tick <- time.Time{}
	if ctx.Err() != nil {
		t.Fatal("ended although the parent lives")
	}
	parents <- 1
	tick <- time.Time{}
	<-ctx.Done()
}
