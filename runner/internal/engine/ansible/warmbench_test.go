package ansible

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible/warm"
)

// notices are what a pool has told.
type notices struct {
	mu  sync.Mutex
	all []warm.Notice
}

func (n *notices) add(notice warm.Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, notice)
}

func (n *notices) of(what warm.What) (found []warm.Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, notice := range n.all {
		if notice.What == what {
			found = append(found, notice)
		}
	}
	return found
}

// shared are the zygotes of all tests that are not about zygotes: to start one costs more than most of their runs, and what
// runs share must not matter.
var shared struct {
	temp      string // where its files are: tests set TMPDIR
	once      sync.Once
	workspace *Workspace
	pool      *warm.Pool
	err       error
}

func openShared() {
	dir, err := os.MkdirTemp(shared.temp, "chartbook-zygotes-")
	if err == nil {
		shared.workspace, err = OpenWorkspace(filepath.Join(dir, "workspace"), 0)
	}
	if shared.err = err; err == nil {
		shared.pool = warm.New(patient(shared.workspace.PoolConfig(nil)))
	}
}

func closeShared() error {
	if shared.pool == nil {
		return shared.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return errors.Join(shared.pool.Close(ctx), shared.workspace.Close(), os.RemoveAll(filepath.Dir(shared.workspace.Dir())))
}

func TestMain(m *testing.M) {
	shared.temp = os.TempDir()
	code := m.Run()
	if err := closeShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// patient has runs wait for zygotes as long as it takes, and zygotes stay: a test that is about warm runs would otherwise be
// about direct ones on a machine that is busy.
func patient(cfg warm.Config) warm.Config {
	cfg.Patience, cfg.Answer, cfg.Limit = time.Minute, time.Minute, 1000
	return cfg
}

// zygotes returns the bench's pool: that of all benches, unless the test has asked for one of its own.
func (b *bench) zygotes() *warm.Pool {
	b.t.Helper()
	if b.pool == nil {
		shared.once.Do(openShared)
		if shared.err != nil {
			b.t.Fatal(shared.err)
		}
		b.pool, b.workspace.plugins = shared.pool, shared.workspace.plugins
	}
	return b.pool
}

// ownZygotes gives the bench a pool of its own.
func (b *bench) ownZygotes(configure func(*warm.Config)) {
	b.t.Helper()
	cfg := patient(b.workspace.PoolConfig(b.notices.add))
	if configure != nil {
		configure(&cfg)
	}
	pool := warm.New(cfg)
	b.pool = pool
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := pool.Close(ctx); err != nil {
			b.t.Error(err)
		}
	})
}

// TestWarmRun: a run takes the path that it should, and the result says so.
func TestWarmRun(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, Warm)
	b.ownZygotes(nil)
	e := b.play("- command: 'true'\n- debug: {msg: hi}")
	for range 2 {
		got := b.run(e, newJob())
		if got.Outcome != engine.Changed || got.Executor != "warm" || got.Fallback != "" || got.Modules == nil {
			t.Errorf("result is %+v", got)
		}
	}
	for _, what := range []warm.What{warm.FellBack, warm.Died, warm.StartFails} {
		if told := b.notices.of(what); len(told) > 0 {
			t.Errorf("told was %+v", told)
		}
	}
}

// TestModulePaths: both sides have the same list.
func TestModulePaths(t *testing.T) {
	text, err := os.ReadFile("python/warm/chartbook_warm/counters.py")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "REASONS = (")
	list, _, _ = strings.Cut(list, "\n)")
	names := []string{"forked"}
	for _, match := range regexp.MustCompile(`(?m)^    "(\w+)",`).FindAllStringSubmatch(list, -1) {
		names = append(names, match[1])
	}
	if diff := cmp.Diff(names, warm.ModulePaths()); diff != "" {
		t.Errorf("paths of modules (-Python +Go):\n%s", diff)
	}
}
