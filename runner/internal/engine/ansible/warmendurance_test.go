//go:build linux

package ansible

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible/warm"
	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// enduranceVariable holds the number of runs that "make endurance" wants.
const enduranceVariable = "CHARTBOOK_ENDURANCE_RUNS"

// maxGrowth bounds how much a zygote may grow with each run, in bytes.
const maxGrowth = 5 << 10

// TestWarmEndurance: many runs through one zygote, of which some fail, leave orphans or are cancelled, leave nothing behind.
func TestWarmEndurance(t *testing.T) {
	total, atOnce := 300, []int{4}
	if text := os.Getenv(enduranceVariable); text != "" {
		var err error
		if total, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", enduranceVariable, err)
		}
		atOnce = []int{1, 10}
	} else if testing.Short() {
		t.Skip("it takes long")
	}
	for _, n := range atOnce {
		t.Run(fmt.Sprintf("%d at once", n), func(t *testing.T) { endure(t, total, n) })
	}
}

func endure(t *testing.T, total, atOnce int) {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	b := newBenchOf(t, Warm)
	b.ownZygotes(func(cfg *warm.Config) { cfg.MaxRuns, cfg.MaxResident = 1<<30, 1<<40 })
	b.configure = func(cfg *Config) {
		cfg.MaxArtifacts = 1
		cfg.Stop = process.Ladder{Interrupt: 100 * time.Millisecond, Terminate: 100 * time.Millisecond}
	}
	e := b.play(`
- debug: {msg: hi}
- shell: "{{ script }}"
  when: script is defined`)
	b.manyRuns(e, total/6, atOnce) // after which all is as large as it gets
	shm := sharedMemory()
	before, zygote, begun := b.remains(temp), b.zygoteRemains(), time.Now()
	b.manyRuns(e, total, atOnce)
	took := time.Since(begun)
	eventually(t, "all is reaped, and nobody's semaphores are left", func() bool {
		return b.zygoteRemains().children == 0 && sharedMemory() <= shm
	})
	after, now := b.nothingMore(temp, before), b.zygoteRemains()
	grown := (now.resident - zygote.resident) / int64(total)
	t.Logf("%d runs, %d at once, took %v; before %+v %+v, after %+v %+v, %d bytes for each run", total, atOnce, took, before, zygote, after, now, grown)
	if after.heap > before.heap+1<<20 {
		t.Errorf("%d bytes of memory are in use, %d were", after.heap, before.heap)
	}
	if !now.isWithin(zygote) || grown > maxGrowth {
		t.Errorf("the zygote has %+v, before %+v, %d bytes for each run", now, zygote, grown)
	}
	if n := len(b.notices.of(warm.IsReady)); n != 1 {
		t.Errorf("there were %d zygotes", n)
	}
}

// manyRuns runs a play so many times. Most runs are good, and so is the last one of each resource: what is kept of it does
// not depend on chance.
func (b *bench) manyRuns(e *Engine, total, atOnce int) {
	b.t.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	for worker := range atOnce {
		all.Go(func() {
			for i := next.Add(1); i <= int64(total); i = next.Add(1) {
				b.oneOfMany(e, fmt.Sprint("owner-", worker), i)
			}
			b.oneOfMany(e, fmt.Sprint("owner-", worker), 0)
		})
	}
	all.Wait()
}

// oneOfMany is a good run, or one of the others that come again and again.
func (b *bench) oneOfMany(e *Engine, owner string, i int64) {
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	job, want := newJob(), engine.Succeeded
	job.Owner.Name = owner
	switch i % 25 {
	case 5:
		job.Inputs, want = map[string]any{"script": "exit 3"}, engine.Transient
	case 10:
		job.Inputs, want = map[string]any{"script": "setsid sleep 0.2 >/dev/null 2>&1 & exit 0"}, engine.Changed
	case 15:
		job.Inputs, want = map[string]any{"script": "setsid sleep 7000 >/dev/null 2>&1 & kill -9 $PPID"}, engine.Transient
	case 20:
		job.Inputs, want = map[string]any{"script": "setsid sleep 7000 & sleep 8000"}, engine.Cancelled
		job.Progress = func(event engine.Event) {
			if strings.Contains(event.Task, "shell") {
				cancel()
			}
		}
	}
	got, err := e.Run(ctx, job)
	if err != nil || got.Outcome != want || got.Executor != "warm" {
		b.t.Errorf("run %d gives %+v, %v", i, got, err)
	}
	if i%25 == 15 { // its module was killed, its daemon was not
		killAll(job)
	}
}

func killAll(job engine.Job) {
	for pid := range processesOf(job) {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
}

// sharedMemory counts what there is of it on this machine.
func sharedMemory() int {
	entries, _ := os.ReadDir("/dev/shm")
	return len(entries)
}
