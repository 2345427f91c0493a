//go:build linux

package ansible

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// orphan starts a process as a run has left it whose operator was killed, and returns its id.
func orphan(t *testing.T, run string) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $!")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), runVariable + "=" + run}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if alive(pid) {
			p, _ := os.FindProcess(pid)
			_ = p.Kill()
		}
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) { // until it is sleep that runs
		if line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline")); strings.HasPrefix(string(line), "sleep") {
			return pid
		}
		if time.Now().After(end) {
			t.Fatal("the process does not start")
		}
	}
}

func alive(pid int) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// crash leaves a workspace as an operator does that is killed in the midst of a run.
func crash(t *testing.T, w *Workspace, run string) (pid int) {
	t.Helper()
	job := newJob()
	job.ID = run
	if _, err := w.openRun(job); err != nil {
		t.Fatal(err)
	}
	pid = orphan(t, run)
	_ = w.private.Unlock() // as the kernel does
	return pid
}

func TestLeftoversOfAKilledOperatorEndBeforeItsFilesAreWiped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "w")
	run := "left" + strconv.Itoa(os.Getpid())
	pid := crash(t, openTestWorkspace(t, dir, 0), run)
	detached := orphan(t, run+"-ended") // of a run that had ended, which keeps what it detached
	w := openTestWorkspace(t, dir, 0)
	defer func() { _ = w.Close() }()
	if alive(pid) {
		t.Error("what the interrupted run left lives on")
	}
	if !alive(detached) {
		t.Error("what a run that ended has detached was ended")
	}
}

// A replica that waits has opened its workspace before its leader dies.
func TestFirstRunEndsWhatKilledOperatorsLeftBesideIt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	id := strconv.Itoa(os.Getpid())
	leader, evaded, living := openTestWorkspace(t, "", 0), openTestWorkspace(t, "", 0), openTestWorkspace(t, "", 0)
	standby := openTestWorkspace(t, "", 0)
	defer func() { _ = standby.Close() }()
	job := newJob()
	job.ID = "living" + id
	if _, err := living.openRun(job); err != nil {
		t.Fatal(err)
	}
	spared := orphan(t, job.ID)
	left := []int{crash(t, leader, "leader"+id), crash(t, evaded, "evaded"+id)}

	job = newJob()
	job.ID = "first" + id
	run, err := standby.openRun(job)
	if err != nil {
		t.Fatal(err)
	}
	defer run.close()
	for _, pid := range left {
		if alive(pid) {
			t.Errorf("process %d of a killed operator lives on", pid)
		}
	}
	if !alive(spared) {
		t.Error("a process of an operator that lives was ended")
	}
	if _, err := os.Stat(evaded.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of the killed operator is left: %v", err)
	}
	for _, w := range []*Workspace{leader, living} {
		if _, err := os.Stat(w.Dir()); err != nil {
			t.Errorf("the directory is gone: %v", err)
		}
	}
	if notes, _ := os.ReadDir(leader.runningDir()); len(notes) > 0 {
		t.Errorf("left to wipe: %v", notes)
	}
	_ = living.Close()
}
