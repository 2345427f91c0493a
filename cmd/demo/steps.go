package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/internal/table"
)

// step is one thing that is done to the cluster, and what has to come of it.
type step struct {
	title   string
	primary sample                                      // whose run is expected
	act     func(context.Context) (did string, _ error) // does it, and tells so
	effects []effect                                    // in the order in which they are looked for
}

// effect is one thing that has to happen.
type effect struct {
	what  string                      // what has happened then
	check func(context.Context) error // nil when it has, else what is there instead
}

// stepResult is what became of a step.
type stepResult struct {
	title string
	took  time.Duration // until the last effect; zero if that never came
	run   run           // the run that brought it about
	err   error
}

// takeSteps takes all steps. The first that does not work is the last.
func (d *demo) takeSteps(ctx context.Context) error {
	builders := []func(context.Context) (step, error){
		d.changeSpec, d.editChild, d.deleteChild, d.deleteResource, d.leaveSelector,
	}
	for i, build := range builders {
		s, err := build(ctx)
		if err != nil {
			return fmt.Errorf("prepare step %d: %w", i+1, err)
		}
		d.screen.Printf("\n%d. %s", i+1, s.title)
		result := d.take(ctx, s)
		d.results = append(d.results, result)
		if result.err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, s.title, result.err)
		}
	}
	return nil
}

// take takes one step and tells what happens.
func (d *demo) take(ctx context.Context, s step) (result stepResult) {
	result.title = s.title
	before := d.runs.last(s.primary.id()).seq
	begun := time.Now()
	did, err := s.act(ctx)
	if err != nil {
		result.err = err
		return result
	}
	d.screen.Printf("   %s", did)
	for _, e := range s.effects {
		err := d.wait(ctx, e.what, d.opts.timeout, func(ctx context.Context) error {
			return d.view.await(ctx, func() error { return e.check(ctx) })
		})
		if err != nil {
			result.err = err
			return result
		}
		result.took = time.Since(begun)
		d.screen.Printf("   %6s  %s", seconds(result.took), e.what)
	}
	result.run, result.err = d.awaitRun(ctx, s.primary, before)
	if result.err == nil {
		r := result.run
		d.screen.Printf("           by run %s, set off by %s: %s in %s", r.ID, r.Trigger, r.Outcome, seconds(r.Duration))
	}
	return result
}

// awaitRun returns the last run of a sample once it is a later one than that of the number before.
func (d *demo) awaitRun(ctx context.Context, s sample, before int) (run, error) {
	err := d.wait(ctx, "the log to tell of a run of "+s.id(), d.opts.timeout, func(ctx context.Context) error {
		return d.view.await(ctx, func() error {
			if d.runs.last(s.id()).seq > before {
				return nil
			}
			return errors.New("no line says so")
		})
	})
	return d.runs.last(s.id()), err
}

// seconds writes a duration as the table does.
func seconds(d time.Duration) string { return table.Seconds(d) }
