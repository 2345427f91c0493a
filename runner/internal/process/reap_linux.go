package process

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/utils/clock"
)

// reapAfter is how long a zombie may be one before [Reap] takes it for an orphan. Whoever starts a child with
// os/exec waits for it at once, so that its zombie is gone long before.
const reapAfter = 10 * time.Second

// Reap removes the zombies of orphans that this process has inherited, until ctx ends. It is for an operator that is
// process 1 of its container without an init: async tasks and killed runs leave orphans, and nobody else
// waits for those.
//
// Children of this package are never touched, those of other packages only if nobody has waited for them for 10 s.
func Reap(ctx context.Context, clk clock.Clock) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	seen := map[int]time.Time{}
	for {
		var next <-chan time.Time // set while there are candidates
		if len(seen) > 0 {
			next = clk.After(reapAfter)
		}
		select {
		case <-ctx.Done():
			return
		case <-ended:
		case <-next:
		}
		seen = reapOnce(clk.Now(), seen)
	}
}

// reapOnce removes the zombies seen long enough ago and returns the others with the time they were first seen.
func reapOnce(now time.Time, before map[int]time.Time) map[int]time.Time {
	seen := map[int]time.Time{}
	for _, p := range processes() {
		if !p.zombie || p.parent != os.Getpid() || own.has(p.pid) {
			continue
		}
		since, known := before[p.pid]
		switch {
		case !known:
			seen[p.pid] = now
		case now.Sub(since) < reapAfter:
			seen[p.pid] = since
		default:
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
	return seen
}
