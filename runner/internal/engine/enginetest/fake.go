package enginetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Fake is an engine that does what its scripts say and remembers the jobs it got.
//
// The zero value is ready: each run succeeds without a change. It keeps an engine's promises whatever the
// script does: it ends with Cancelled or TimedOut when ctx or the job's timeout does, and sets the times.
// It is safe for use by several goroutines; the exported fields are set before the first Run.
type Fake struct {
	// Script is what a run does when no queued script is left. Nil lets it succeed without a change.
	Script Script
	// NotReady is what Ready returns.
	NotReady error
	// Now is the clock that results are stamped with. Nil means time.Now.
	Now func() time.Time

	mu       sync.Mutex
	queue    []Script
	jobs     []engine.Job
	running  map[engine.Owner]int
	ended    int
	overlaps []engine.Owner
	changed  chan struct{} // closed, and forgotten, whenever a run starts or ends
}

var _ engine.Engine = (*Fake)(nil)

// Queue adds scripts for the next runs, one each and in order; after them Script is used again.
func (f *Fake) Queue(scripts ...Script) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, scripts...)
}

// Jobs returns copies of the jobs so far, in the order in which their runs started.
func (f *Fake) Jobs() []engine.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	jobs := make([]engine.Job, len(f.jobs))
	for i, job := range f.jobs {
		jobs[i] = cloneJob(job)
	}
	return jobs
}

// Running returns how many runs have started and not ended.
func (f *Fake) Running() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.jobs) - f.ended
}

// Overlaps returns the owners that had two runs at one time, which no caller of an engine may do.
func (f *Fake) Overlaps() []engine.Owner {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.overlaps)
}

// WaitStarted returns when n runs have started since the engine was made, or with ctx's error.
func (f *Fake) WaitStarted(ctx context.Context, n int) error {
	return f.wait(ctx, func() bool { return len(f.jobs) >= n })
}

// WaitEnded returns when n runs have ended since the engine was made, or with ctx's error.
func (f *Fake) WaitEnded(ctx context.Context, n int) error {
	return f.wait(ctx, func() bool { return f.ended >= n })
}

// Ready returns NotReady.
func (f *Fake) Ready(context.Context) error { return f.NotReady }

// Run plays the next script.
func (f *Fake) Run(ctx context.Context, job engine.Job) (engine.Result, error) {
	now := f.Now
	if now == nil {
		now = time.Now
	}
	started := now()
	if ctx.Err() != nil {
		return engine.Result{Outcome: engine.Cancelled, Reason: engine.ReasonCancelled,
			Message: "cancelled before the start", Started: started, Finished: started}, nil
	}
	script := f.begin(job)
	defer f.end(job.Owner)
	runCtx, cancel := withTimeout(ctx, job.Timeout)
	defer cancel()
	result, err := script(runCtx, cloneJob(job))
	if interrupted := context.Cause(runCtx); interrupted != nil && (err != nil || result.Outcome == "") {
		result, err = endedEarly(interrupted), nil
	}
	if err != nil {
		return engine.Result{}, err
	}
	if result.Outcome == "" {
		result.Outcome = engine.Succeeded
	}
	result.Started, result.Finished = started, now()
	return result, nil
}

// begin notes that a run starts and returns what it does.
func (f *Fake) begin(job engine.Job) Script {
	f.mu.Lock()
	defer f.mu.Unlock()
	script := f.Script
	if len(f.queue) > 0 {
		script, f.queue = f.queue[0], f.queue[1:]
	}
	if script == nil {
		script = Return(engine.Result{Outcome: engine.Succeeded})
	}
	kept := cloneJob(job)
	kept.Progress = nil // so that jobs can be compared
	f.jobs = append(f.jobs, kept)
	owner := identity(job.Owner)
	if f.running == nil {
		f.running = map[engine.Owner]int{}
	}
	if f.running[owner]++; f.running[owner] > 1 {
		f.overlaps = append(f.overlaps, owner)
	}
	f.announce()
	return script
}

// end notes that a run is over.
func (f *Fake) end(owner engine.Owner) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owner = identity(owner)
	if f.running[owner]--; f.running[owner] == 0 {
		delete(f.running, owner)
	}
	f.ended++
	f.announce()
}

// identity leaves out what may differ between two runs for one resource.
func identity(owner engine.Owner) engine.Owner {
	owner.Generation = 0
	return owner
}

// announce wakes those who wait; the caller holds mu.
func (f *Fake) announce() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

func (f *Fake) wait(ctx context.Context, done func() bool) error {
	for {
		f.mu.Lock()
		if done() {
			f.mu.Unlock()
			return nil
		}
		if f.changed == nil {
			f.changed = make(chan struct{})
		}
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// errTimeout tells the job's own timeout from the end of the caller's context.
var errTimeout = errors.New("the run's timeout is over")

func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, errTimeout)
}

func endedEarly(cause error) engine.Result {
	if errors.Is(cause, errTimeout) {
		return engine.Result{Outcome: engine.TimedOut, Reason: engine.ReasonDeadlineExceeded, Message: errTimeout.Error()}
	}
	return engine.Result{Outcome: engine.Cancelled, Reason: engine.ReasonCancelled, Message: "cancelled"}
}
