package warm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/chartbook-operator/chartbook/runner/internal/once"
	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// Config says how a [Pool] works. Script, Dir and Mark are required, the rest has defaults.
type Config struct {
	// Script is the path of start.py.
	Script string
	// Dir is where zygotes keep their temporary files, each in a directory that goes with it. It has to be there.
	Dir string
	// Mark, made by [Mark], is what all zygotes carry in their environment, so that they can be found when this process
	// was killed.
	Mark string

	// Limit is how many zygotes there are at most, those that only finish runs left out. Default 4.
	Limit int
	// MaxRuns is how many runs a zygote forks. Default 2000.
	MaxRuns int
	// MaxResident is how much memory a zygote may take, in bytes; one that was born large may take twice its size.
	// Default 256 MiB.
	MaxResident int64
	// Patience is how long a run waits for a zygote that is being started, rather than be run in another way, which takes as
	// long at least. Default 3 s.
	Patience time.Duration
	// Answer is how long a zygote may take to fork. Default 5 s.
	Answer time.Duration
	// StartTimeout is how long a zygote may take to start. Default 1 min.
	StartTimeout time.Duration

	// Notify, if set, is told what the pool does. It must neither block nor call the pool.
	Notify func(Notice)
	// Runner starts zygotes. Default [process.OS].
	Runner process.Runner
	// Clock measures times. Default the real one.
	Clock clock.Clock
}

func (c Config) withDefaults() Config {
	set(&c.Limit, 4)
	set(&c.MaxRuns, 2000)
	set(&c.MaxResident, 256<<20)
	set(&c.Patience, 3*time.Second)
	set(&c.Answer, 5*time.Second)
	set(&c.StartTimeout, time.Minute)
	if c.Notify == nil {
		c.Notify = func(Notice) {}
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Runner == nil {
		c.Runner = process.OS{Clock: c.Clock}
	}
	return c
}

func set[T int | int64 | time.Duration](value *T, byDefault T) {
	if *value <= 0 {
		*value = byDefault
	}
}

// Request is one run of ansible-playbook.
type Request struct {
	// Program is the path of ansible-playbook.
	Program string
	// Args are its arguments. No other process gets to see them.
	Args []string
	// Env is its whole environment but for the mark.
	Env []string
	// Files are texts that it finds, by absolute path, where an argument names a file of variables (-e @PATH). They are in its
	// memory alone.
	Files map[string]string
	// Dir is its working directory.
	Dir string
	// ID names the run; no other that is under way has it. Mark, which is CHARTBOOK_RUN=ID, is put into the environment,
	// and its processes are found by it.
	ID, Mark string
	// Preload are names of collections that it may use, like kubernetes.core.
	Preload []string
	// Adjacent are the namespaces of collections beside the content, which come before others of that name.
	Adjacent []string
	// Stdout, Stderr and Events receive what it writes, Events to descriptor 3, each from one goroutine; nil discards it.
	Stdout, Stderr, Events io.Writer
	// Extra are further files that it gets, as the descriptors 4 and so on. They stay the caller's.
	Extra []*os.File
	// Stop says how long it may take to end, and Drain how long output is read after its end; as for [process.Spec].
	Stop  process.Ladder
	Drain time.Duration
}

// End is how a run ended.
type End struct {
	process.Exit
	// Modules counts the executions of modules, by path: "forked", or the reason why one was not forked. Nil if the run could
	// not say.
	Modules map[string]int
}

// Pool has runs forked from zygotes.
type Pool struct {
	cfg  Config
	told once.Texts     // reasons
	all  sync.WaitGroup // goroutines of zygotes

	mu      sync.Mutex
	zygotes []*zygote // those whose process is there, or is about to be
	trouble troubles
	// consulted is what zygotes of a program have looked at, to guess what one that is being started will.
	consulted map[string][]string
	number    int // of zygotes so far
	closed    bool
}

// New returns a pool without zygotes. [Pool.Close] has to be called.
func New(cfg Config) *Pool {
	return &Pool{cfg: cfg.withDefaults(), trouble: troubles{}, consulted: map[string][]string{}}
}

// Run forks a run and returns when it, and all that writes to its output, is done. When ctx ends first the run is ended as
// Stop says, and Exit.Stopped is true. The error is non-nil only when nothing has started; if it is an [UnavailableError],
// the run may be started in another way.
func (p *Pool) Run(ctx context.Context, r Request) (End, error) {
	end, err := p.run(ctx, r)
	var unavailable *UnavailableError
	if errors.As(err, &unavailable) && p.told.First(string(unavailable.Reason)) {
		p.cfg.Notify(Notice{What: FellBack, Reason: unavailable.Reason, Err: unavailable.Err})
	}
	return end, err
}

func (p *Pool) run(ctx context.Context, r Request) (End, error) {
	n, err := needOf(r)
	if err != nil {
		return End{}, err
	}
	z, err := p.take(ctx, n)
	if err != nil {
		return End{}, err
	}
	defer p.giveBack(z)
	return z.run(ctx, r)
}

// Ahead has a zygote for such a run started if there is none and if there is room, and does not wait for it.
func (p *Pool) Ahead(r Request) {
	n, err := needOf(r)
	if err != nil {
		return // each run will say so
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.find(n) != nil || p.starting(n) != nil || p.active() >= p.cfg.Limit {
		return
	}
	_, _ = p.start(n)
}

// Close ends the zygotes; those with runs under way end with the last of these. When ctx ends, zygotes are killed, and the runs
// that they have forked go on alone.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	for _, z := range p.zygotes {
		p.drain(z)
	}
	p.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		p.all.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	for _, z := range p.zygotes {
		z.kill()
	}
	p.mu.Unlock()
	<-gone
	return fmt.Errorf("end the processes that fork runs: %w", ctx.Err())
}

// Stats is how things stand.
type Stats struct {
	Zygotes  int   // that have started and not ended
	Resident int64 // bytes of memory of all of them; pages that they share are counted several times
}

// Stats returns how things stand.
func (p *Pool) Stats() (s Stats) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, z := range p.zygotes {
		if z.pid != 0 {
			s.Zygotes++
			s.Resident += resident(z.pid)
		}
	}
	return s
}
