package ansible

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// stubPlay stands for ansible-playbook in the runs that are too many to be real: it leaves a file in the cache that all
// runs share and a temporary one of its own, prints, sends an event, and ends in one of many ways.
const stubPlay = `echo cache > "$TMPDIR/k8srcp-1.json"
echo own > "$ANSIBLE_LOCAL_TEMP/own"
echo output
echo '{"uuid": "00000000-0000-0000-0000-000000000001", "counter": 1, "event": "playbook_on_stats", "created": "2026-01-02T03:04:05Z", "event_data": {"ok": {"localhost": 1}}}' >&3
case "$HOW" in
fail) echo 'ERROR! no' >&2; exit 1 ;;
die) kill -9 $$ ;;
hang) sleep 7000 & sleep 8000 ;;
esac
`

// remains counts what a process may leave behind.
type remains struct {
	files, descriptors, children, goroutines int
	heap                                     uint64
}

// isWithin reports whether nothing is more than it was, memory apart.
func (r remains) isWithin(before remains) bool {
	return r.files <= before.files && r.descriptors <= before.descriptors && r.children <= before.children && r.goroutines <= before.goroutines
}

// nothingMore fails if there stays more than there was. What is being closed when runs have ended may take a moment.
func (b *bench) nothingMore(temp string, before remains) (now remains) {
	b.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if now = b.remains(temp); now.isWithin(before) {
			return now
		}
	}
	b.t.Errorf("there are %+v, before %+v", now, before)
	return now
}

func (b *bench) remains(temp string) (r remains) {
	b.t.Helper()
	for _, dir := range []string{b.workspace.Dir(), temp} {
		_ = filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error {
			if err != nil {
				b.t.Error(err)
			}
			r.files++
			return nil
		})
	}
	r.descriptors = openDescriptors(b.t)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		if strings.Contains(string(stat), fmt.Sprintf(") S %d ", os.Getpid())) || strings.Contains(string(stat), fmt.Sprintf(") Z %d ", os.Getpid())) {
			r.children++
		}
	}
	r.goroutines = runtime.NumGoroutine()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	r.heap = memory.HeapAlloc
	return r
}

// TestFiveHundredRuns: the old tool keeps files for each run and each resource that ever was, and a discovery cache for
// each resource (AO 10.3, 10.4; UP B1). Here nothing is left beyond the artifacts that are to be kept.
// Covers UP B4.
func TestFiveHundredRuns(t *testing.T) {
	const resources, keep = 5, 2
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	b := newBench(t)
	b.stub(map[string]string{"ansible-playbook": stubPlay})
	stubbed := b.configure
	b.configure = func(cfg *Config) {
		stubbed(cfg)
		cfg.MaxArtifacts = keep
		cfg.Stop = process.Ladder{Interrupt: 50 * time.Millisecond, Terminate: 50 * time.Millisecond}
	}
	stub := b.play("- debug: {msg: hi}")
	hows := []string{"end", "fail", "die", "end", "hang"}
	run := func(e *Engine, i int) {
		job := newJob()
		job.Owner.Name = fmt.Sprint("owner-", i%resources)
		job.Kubeconfig = []byte("{}")
		job.Redact = hideAll("x")
		how := "end"
		if i%20 < len(hows) {
			how = hows[i%20]
		}
		job.Env = map[string]string{"HOW": how}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		job.Progress = func(_ engine.Event) {
			if how == "hang" {
				cancel()
			}
		}
		if _, err := e.Run(ctx, job); err != nil {
			t.Error(err)
		}
	}
	warmUp := 10 * resources // each resource has as many artifacts as it may
	for i := range warmUp {
		run(stub, i)
	}
	before := b.remains(temp)
	for i := range 500 {
		run(stub, i)
	}
	after := b.nothingMore(temp, before)
	if after.heap > before.heap+1<<20 {
		t.Errorf("%d bytes of memory are in use, %d were", after.heap, before.heap)
	}
	t.Logf("before %+v, after %+v", before, after)
	for i := range resources {
		b.workspace.Forget(engine.Owner{APIVersion: newJob().Owner.APIVersion, Kind: "Sample", Namespace: "default", Name: fmt.Sprint("owner-", i)})
	}
	if left, _ := filepath.Glob(b.workspace.runnerDir() + "/*"); len(left) > 0 {
		t.Errorf("when the resources are gone, there is still %v", left)
	}
}

// TestRealRunsLeaveNothing is the same with real plays, a few of each executor.
func TestRealRunsLeaveNothing(t *testing.T) {
	for _, executor := range executors {
		t.Run(string(executor), func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			b := newBenchOf(t, executor)
			b.configure = func(cfg *Config) { cfg.MaxArtifacts = 1 }
			e := b.play("- command: 'true'\n- tempfile: {}\n  register: it\n- file: {path: '{{ it.path }}', state: absent}")
			run := func() {
				if got := b.run(e, newJob()); got.Outcome != engine.Changed {
					t.Errorf("result is %+v", got)
				}
			}
			run()
			before := b.remains(temp)
			for range 4 {
				run()
			}
			b.nothingMore(temp, before)
		})
	}
}
