package ansible

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

const twoTasks = `
- hosts: localhost
  gather_facts: false
  tasks:
    - command: "true"
      changed_when: false
    - debug: {msg: hi}
`

// BenchmarkTwoTasks compares a run of the engine with a bare ansible-playbook, for the price of the engine's own work:
// files, events, artifacts. Processor time is what to look at; it includes all children.
func BenchmarkTwoTasks(b *testing.B) {
	needAnsible(b)
	workspace, err := OpenWorkspace(filepath.Join(b.TempDir(), "w"), DefaultArtifactBytes)
	if err != nil {
		b.Fatal(err)
	}
	content := writeTemp(b, "playbook.yml", twoTasks)
	b.Run("engine", func(b *testing.B) {
		e, err := New(Config{Workspace: workspace, Main: Content{Playbook: content}})
		if err != nil {
			b.Fatal(err)
		}
		measure(b, func() {
			if got, err := e.Run(b.Context(), newJob()); err != nil || !got.Outcome.OK() {
				b.Fatalf("%+v, %v", got, err)
			}
		})
	})
	b.Run("bare", func(b *testing.B) {
		inventory := writeTemp(b, "hosts", localInventory(nil))
		spec := process.Spec{
			Path: "/bin/sh", Args: []string{"-c", "exec " + program + " -vv -i " + inventory + " " + content},
			Env: newEnvironment(os.Environ()).entries(), Stdout: io.Discard, Stderr: io.Discard,
		}
		measure(b, func() {
			if exit, err := (process.OS{}).Run(b.Context(), spec); err != nil || exit.Code != 0 {
				b.Fatalf("%+v, %v", exit, err)
			}
		})
	})
}

// measure runs f and reports the processor time of this process and of its children, in seconds.
func measure(b *testing.B, f func()) {
	b.Helper()
	own, children := cpu(b, syscall.RUSAGE_SELF), cpu(b, syscall.RUSAGE_CHILDREN)
	for b.Loop() {
		f()
	}
	b.ReportMetric((cpu(b, syscall.RUSAGE_SELF)-own)/float64(b.N), "own-cpu-s/op")
	b.ReportMetric((cpu(b, syscall.RUSAGE_CHILDREN)-children)/float64(b.N), "children-cpu-s/op")
}

func cpu(b *testing.B, who int) float64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(who, &usage); err != nil {
		b.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
