package warm

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// minIdle is how long a zygote has to have been without runs before it makes room for another one.
const minIdle = 10 * time.Second

// take returns a zygote for a run, which has to be given back. It waits for one that is being started as long as patience
// lasts.
func (p *Pool) take(ctx context.Context, n need) (*zygote, error) {
	patience := p.cfg.Clock.NewTimer(p.cfg.Patience)
	defer patience.Stop()
	for {
		z, wait, err := p.choose(n) //nolint:contextcheck // what it starts is for all runs, and outlives this one
		if err != nil {
			return nil, err
		}
		if z != nil {
			if file := changedFile(z.ready.Files); file != "" {
				p.outdated(z, file)
				continue
			}
			return z, nil
		}
		select {
		case <-wait.settled:
			if wait.failure != nil && wait.need.key() == n.key() {
				return nil, wait.failure
			}
		case <-patience.C():
			return nil, &UnavailableError{Reason: p.whileStarting()}
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a zygote: %w", ctx.Err())
		}
	}
}

// whileStarting returns the reason for a run that cannot wait any longer.
func (p *Pool) whileStarting() Reason {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.ContainsFunc(p.zygotes, func(z *zygote) bool { return z.state == working }) {
		return Environment
	}
	return Starting
}

// choose returns a zygote that can serve a run, with the run counted as one of its, else one to wait for.
func (p *Pool) choose(n need) (z, wait *zygote, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, &UnavailableError{Reason: Disabled}
	}
	z = p.find(n)
	if z != nil {
		z.running++
	}
	if z != nil && !z.worn {
		return z, nil, nil
	}
	if wait = p.starting(n); wait == nil {
		wait, err = p.start(n)
	}
	if z != nil { // worn out, but good until its successor is there
		return z, nil, nil
	}
	return nil, wait, err
}

// find returns a zygote that can serve a run, one that is worn out only if there is no other.
func (p *Pool) find(n need) (found *zygote) {
	for _, z := range p.zygotes {
		if z.serves() && n.servedBy(z.need, z.ready.Consulted) && (found == nil || found.worn) {
			found = z
		}
	}
	return found
}

// starting returns a zygote that is being started and, as far as can be told, will serve a run.
func (p *Pool) starting(n need) *zygote {
	for _, z := range p.zygotes {
		if z.state == beginning && n.servedBy(z.need, p.consulted[n.program]) {
			return z
		}
	}
	return nil
}

// start starts a zygote, for which another one that is idle may have to go.
func (p *Pool) start(n need) (*zygote, error) {
	if err := p.trouble.refuse(n.key(), p.cfg.Clock.Now()); err != nil {
		return nil, err
	}
	if p.active() >= p.cfg.Limit {
		idle := p.longestIdle()
		if idle == nil {
			return nil, &UnavailableError{Reason: TooMany}
		}
		p.drain(idle)
	}
	p.number++
	ctx, kill := context.WithCancel(context.Background())
	z := newZygote(p, n, p.number, kill)
	p.zygotes = append(p.zygotes, z)
	p.all.Go(func() { z.live(ctx) })
	return z, nil
}

// active counts the zygotes that are to stay.
func (p *Pool) active() (count int) {
	for _, z := range p.zygotes {
		if z.state != draining && !z.worn {
			count++
		}
	}
	return count
}

// longestIdle returns the zygote without runs that was used least recently, nil if all were used just now.
func (p *Pool) longestIdle() (idle *zygote) {
	for _, z := range p.zygotes {
		if z.state == working && z.running == 0 && p.cfg.Clock.Since(z.used) >= minIdle && (idle == nil || z.used.Before(idle.used)) {
			idle = z
		}
	}
	return idle
}

// outdated gives a zygote back that must not serve any more runs, since a file has changed.
func (p *Pool) outdated(z *zygote, file string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	z.running--
	if z.state == working {
		p.drain(z)
		p.cfg.Notify(Notice{What: Retired, PID: z.pid, Detail: "file " + file + " has changed"})
	}
}

// giveBack says that a run is over. A zygote that has had its day will be replaced.
func (p *Pool) giveBack(z *zygote) {
	size := resident(z.pid)
	p.mu.Lock()
	defer p.mu.Unlock()
	z.running--
	z.served++
	z.used = p.cfg.Clock.Now()
	z.worn = z.worn || z.served >= p.cfg.MaxRuns || size > max(p.cfg.MaxResident, 2*z.born)
}

// drain has a zygote end when its last run has.
func (p *Pool) drain(z *zygote) {
	if z.state != draining {
		z.state = draining
		p.all.Go(z.stop)
	}
}

// remove forgets a zygote.
func (p *Pool) remove(z *zygote) {
	p.zygotes = slices.DeleteFunc(p.zygotes, func(other *zygote) bool { return other == z })
}

// succeeded lets those go that are worn out and that a zygote can take the place of.
func (p *Pool) succeeded(by *zygote) {
	for _, z := range p.zygotes {
		if z.worn && z.state == working && z.need.servedBy(by.need, by.ready.Consulted) {
			p.drain(z)
			p.cfg.Notify(Notice{What: Retired, PID: z.pid, Detail: fmt.Sprintf("it has served %d runs", z.served)})
		}
	}
}
