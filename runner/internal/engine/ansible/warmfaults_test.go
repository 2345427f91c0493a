//go:build linux

package ansible

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible/warm"
	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// hold is a module that lasts until a file is there. It starts a process in a session of its own, which does not mind being
// asked to end.
const hold = `#!/usr/bin/python3
import os, subprocess, time
from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule({"place": {"type": "path"}, "secret": {"type": "str", "no_log": True}})
place = module.params["place"]
script = 'trap "" INT TERM HUP; echo begun >> "$1"; while ! [ -e "$2" ]; do sleep 0.02; done'
child = subprocess.Popen(["sh", "-c", script, "hold", place + "-begun", place + "-go"], start_new_session=True)
while not os.path.exists(place + "-go"):
    time.sleep(0.02)
child.wait()
module.exit_json(changed=True)
`

// holding returns an engine whose runs last until they are let go, each by the place in its inputs.
func (b *bench) holding() *Engine {
	b.t.Helper()
	b.file("library/hold.py", hold)
	return b.play("- name: hold on\n  hold: {place: \"{{ place }}\", secret: \"{{ password | default('') }}\"}")
}

// held starts a run of holding and returns once its module is under way.
func (b *bench) held(ctx context.Context, e *Engine, name string, change ...func(*engine.Job)) (job engine.Job, letGo func(), done <-chan engine.Result) {
	b.t.Helper()
	place := filepath.Join(b.content, name)
	job = newJob()
	job.Owner.Name = name
	job.Inputs = map[string]any{"place": place}
	for _, f := range change {
		f(&job)
	}
	done = b.start(ctx, e, job)
	b.t.Cleanup(func() { killAll(job) })
	eventually(b.t, "the module is under way", func() bool { return exists(place + "-begun") })
	return job, func() { b.file(name+"-go", "") }, done
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// zygote returns the process id of the newest of the bench's own zygotes.
func (b *bench) zygote() int {
	b.t.Helper()
	ready := b.notices.of(warm.IsReady)
	if len(ready) == 0 {
		b.t.Fatal("there is no zygote")
	}
	return ready[len(ready)-1].PID
}

// TestKilledZygote: runs that are under way finish, none is started again, and later ones have another zygote.
func TestKilledZygote(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, Warm)
	b.ownZygotes(nil)
	e := b.holding()
	var all []<-chan engine.Result
	var release []func()
	for _, name := range []string{"one", "two"} {
		_, letGo, done := b.held(t.Context(), e, name)
		all, release = append(all, done), append(release, letGo)
	}
	old := b.zygote()
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its death was noticed", func() bool { return len(b.notices.of(warm.Died)) == 1 })
	for i, letGo := range release {
		letGo()
		if got := <-all[i]; got.Outcome != engine.Changed || got.Executor != "warm" || got.Fallback != "" || got.Modules["forked"] != 1 {
			t.Errorf("a run that was under way gives %+v", got)
		}
	}
	eventually(t, "a run is warm again", func() bool {
		job := newJob()
		job.Inputs = map[string]any{"place": filepath.Join(b.content, "one")}
		got := b.run(e, job)
		if got.Outcome != engine.Changed || got.Executor != "warm" && got.Fallback != "start_failed" {
			t.Errorf("a run after that gives %+v", got)
		}
		return got.Executor == "warm"
	})
	if b.zygote() == old {
		t.Error("there is no other zygote")
	}
}

// TestEndOfAWarmRunLeavesNothing: no process, zombie, descriptor or file, whether it is cancelled or killed.
func TestEndOfAWarmRunLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	b := newBenchOf(t, Warm)
	b.ownZygotes(nil)
	b.configure = func(cfg *Config) {
		cfg.MaxArtifacts = 1
		cfg.Stop = process.Ladder{Interrupt: 100 * time.Millisecond, Terminate: 100 * time.Millisecond}
	}
	e := b.holding()
	ends := map[string]func(job engine.Job, cancel func()){
		"cancelled": func(_ engine.Job, cancel func()) { cancel() },
		"killed":    func(job engine.Job, _ func()) { _ = syscall.Kill(leader(t, job), syscall.SIGKILL) },
	}
	end := func(name string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		job, _, done := b.held(ctx, e, name)
		if n := len(processesOf(job)); n < 4 { // run, worker, module, its child
			t.Errorf("the run has %d processes", n)
		}
		ends[name](job, cancel)
		if got := <-done; got.Executor != "warm" || got.Fallback != "" || got.Outcome.OK() {
			t.Errorf("result is %+v", got)
		}
		noneLeft(t, job)
		begun := filepath.Join(b.content, name+"-begun")
		if text, err := os.ReadFile(begun); string(text) != "begun\n" { // once: what has started is not started in another way
			t.Errorf("the module has written %q, %v", text, err)
		}
		_ = os.Remove(begun)
	}
	for name := range ends {
		end(name)
	}
	before, zygote := b.remains(temp), b.zygoteRemains()
	for name := range ends {
		end(name)
	}
	eventually(t, "as many as before are left", func() bool {
		after := b.remains(temp)
		return after.files <= before.files && after.descriptors <= before.descriptors && after.children <= before.children &&
			after.goroutines <= before.goroutines && b.zygoteRemains().isWithin(zygote)
	})
}

// zygoteRemains is what a zygote has kept of runs.
type zygoteRemains struct {
	descriptors, children, threads int
	resident                       int64
}

func (b *bench) zygoteRemains() (z zygoteRemains) {
	b.t.Helper()
	dir := fmt.Sprintf("/proc/%d", b.zygote())
	fds, _ := os.ReadDir(dir + "/fd")
	tasks, _ := os.ReadDir(dir + "/task")
	children, _ := os.ReadFile(fmt.Sprintf("%s/task/%d/children", dir, b.zygote()))
	memory, err := os.ReadFile(dir + "/statm")
	if err != nil {
		b.t.Fatal(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(memory), &size, &pages); err != nil {
		b.t.Fatal(err)
	}
	return zygoteRemains{len(fds), len(strings.Fields(string(children))), len(tasks), pages * int64(os.Getpagesize())}
}

// isWithin reports whether there is no more of anything but memory, and nothing that has to go.
func (z zygoteRemains) isWithin(before zygoteRemains) bool {
	return z.descriptors <= before.descriptors && z.children == 0 && z.threads == 1
}

// TestWarmSecretsAreInMemoryAlone: while a run is under way, its variables and its vault password are in no file, also none
// that has lost its name, and in nothing that the system shows of a process.
func TestWarmSecretsAreInMemoryAlone(t *testing.T) {
	t.Parallel()
	const input, word = "canary-among-extra-vars", "canary-for-the-vault"
	b := newBenchOf(t, Warm)
	e := b.holding()
	job, letGo, done := b.held(t.Context(), e, "one", func(job *engine.Job) {
		job.Inputs["password"] = input
		job.VaultPassword = []byte(word)
	})
	places := []string{"/proc/*/cmdline", "/proc/*/environ"}
	for pid := range processesOf(job) {
		places = append(places, fmt.Sprintf("/proc/%d/fd/*", pid))
	}
	var paths []string
	for _, pattern := range places {
		found, _ := filepath.Glob(pattern)
		paths = append(paths, found...)
	}
	for _, dir := range []string{b.workspace.Dir(), shared.workspace.Dir(), b.content, "/dev/shm"} {
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
			paths = append(paths, path)
			return nil
		})
	}
	looked := 0
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		looked++
		for _, secret := range []string{input, word} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s is in %s", secret, path)
			}
		}
	}
	if looked < 20 {
		t.Errorf("only %d files were looked at", looked)
	}
	letGo()
	if got := <-done; got.Outcome != engine.Changed || got.Executor != "warm" || got.Modules["forked"] != 1 {
		t.Errorf("result is %+v", got)
	}
}

// TestWithoutUTF8: a run that ansible-core would refuse is left to it, to say so.
func TestWithoutUTF8(t *testing.T) {
	t.Parallel()
	results := map[Executor]engine.Result{}
	for _, executor := range []Executor{Warm, Direct} {
		b := newBenchOf(t, executor)
		job := newJob()
		job.Env = map[string]string{"LC_ALL": "C"}
		results[executor] = b.run(b.play("- debug: {msg: hi}"), job)
	}
	got, want := results[Warm], results[Direct]
	if got.Executor != "direct" || got.Fallback != "locale" {
		t.Errorf("the run was %s: %q", got.Executor, got.Fallback)
	}
	if got.Outcome != want.Outcome || got.Message != want.Message || !strings.Contains(got.Message, "UTF-8") {
		t.Errorf("warm gives %+v, direct %+v", got, want)
	}
}
