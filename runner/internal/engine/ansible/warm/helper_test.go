package warm

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// bench is a pool of stubs.
type bench struct {
	t       *testing.T
	pool    *Pool
	program string
	dir     string
	log     string // where stubs write that they have started

	mu      sync.Mutex
	notices []Notice
}

// ids numbers the runs of all tests.
var ids atomic.Int64

func newBench(t *testing.T, configure func(*Config)) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{t: t, program: filepath.Join(dir, "ansible-playbook"), dir: filepath.Join(dir, "zygotes"), log: filepath.Join(dir, "log")}
	if err := os.WriteFile(b.program, []byte("#!/usr/bin/python3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/stub.py")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Script: script, Dir: b.dir, Mark: Mark(fmt.Sprintf("zygotes-%d-%d", os.Getpid(), ids.Add(1))),
		Patience: time.Minute, Answer: time.Minute, Notify: b.note,
	}
	if configure != nil {
		configure(&cfg)
	}
	b.pool = New(cfg)
	t.Cleanup(b.close)
	return b
}

// close ends all and fails if anything is left.
func (b *bench) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := b.pool.Close(ctx); err != nil {
		b.t.Error(err)
	}
	if left, _ := os.ReadDir(b.dir); len(left) > 0 {
		b.t.Errorf("files of zygotes are left: %v", left)
	}
	for _, pid := range b.starts() {
		if _, err := os.Stat("/proc/" + pid); err == nil {
			b.t.Errorf("zygote %s is left", pid)
		}
	}
}

func (b *bench) note(n Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notices = append(b.notices, n)
}

// noted returns the notices of a kind.
func (b *bench) noted(what What) (found []Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.notices {
		if n.What == what {
			found = append(found, n)
		}
	}
	return found
}

// starts returns the process ids of all zygotes that ever were.
func (b *bench) starts() (pids []string) {
	text, _ := os.ReadFile(b.log)
	for line := range strings.Lines(string(text)) {
		pid, _, _ := strings.Cut(line, " ")
		pids = append(pids, strings.TrimSpace(pid))
	}
	return pids
}

// request is for a run of a script, by a stub that has faults.
func (b *bench) request(script string, faults ...string) Request {
	id := fmt.Sprintf("run-%d-%d", os.Getpid(), ids.Add(1))
	return Request{
		Program: b.program, Args: []string{script}, Dir: "/", ID: id, Mark: "CHARTBOOK_RUN=" + id,
		Env:  []string{"PATH=" + os.Getenv("PATH"), "STUB=" + strings.Join(faults, ","), "STUB_LOG=" + b.log},
		Stop: process.Ladder{Interrupt: 100 * time.Millisecond, Terminate: 100 * time.Millisecond},
	}
}

// run runs a script and returns what it printed.
func (b *bench) run(r Request) (End, string) {
	b.t.Helper()
	var out bytes.Buffer
	r.Stdout = &out
	end, err := b.pool.Run(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return end, out.String()
}

// in starts a run in the background.
func (b *bench) start(ctx context.Context, r Request) <-chan result {
	done := make(chan result, 1)
	go func() {
		end, err := b.pool.Run(ctx, r)
		done <- result{end, err}
	}()
	return done
}

type result struct {
	end End
	err error
}

// living returns the processes that carry the mark of a run.
func living(mark string) []int {
	return slices.Collect(maps.Keys(testkit.Processes(testkit.Has(mark))))
}

// eventually fails unless what becomes true soon.
func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if check() {
			return
		}
	}
	t.Fatalf("not within 30 s: %s", what)
}
