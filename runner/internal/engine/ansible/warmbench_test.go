package ansible

import (
	"context"
	"os"
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

// zygotes returns the bench's pool. Runs wait for zygotes as long as it takes, since a test that is about warm runs would
// otherwise be about direct ones on a machine that is busy.
func (b *bench) zygotes() *warm.Pool {
	if b.pool == nil {
		cfg := b.workspace.poolConfig(b.notices.add)
		cfg.Patience, cfg.Answer = time.Minute, time.Minute
		b.usePool(warm.New(cfg))
	}
	return b.pool
}

// usePool makes a pool that of the bench.
func (b *bench) usePool(pool *warm.Pool) {
	b.pool = pool
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := pool.Close(ctx); err != nil {
			b.t.Error(err)
		}
	})
}

// newWarmBench returns a bench for tests of what is particular to warm runs.
func newWarmBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.executor = Warm
	return b
}

// TestWarmRun: a run takes the path that it should, and the result says so.
func TestWarmRun(t *testing.T) {
	t.Parallel()
	b := newWarmBench(t)
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
