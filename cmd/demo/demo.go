package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/cmd/internal/child"
	"github.com/chartbook-operator/chartbook/cmd/internal/table"
)

// demo is one demonstration. Its fields are filled phase by phase.
type demo struct {
	opts     options
	screen   *table.Screen
	terminal bool // output goes to a terminal
	stdin    *os.File
	started  time.Time
	undo     cleanup

	cluster  cluster
	kube     *kube
	samples  []sample
	store    *storeServer
	operator *child.Child
	runs     *runLog
	view     *view
	drawing  sync.Mutex
	results  []stepResult
}

func newDemo(o options, cmd *cobra.Command) *demo {
	var size table.Size
	if file, ok := cmd.OutOrStdout().(*os.File); ok {
		size = table.TerminalSize(file)
	}
	return &demo{
		opts:     o,
		screen:   table.New(cmd.OutOrStdout(), size),
		terminal: size != nil,
		stdin:    os.Stdin,
		started:  time.Now(),
		runs:     newRunLog(),
	}
}

// run shows everything and cleans up, whatever happened. Ending ctx stops the show, ending patience the cleaning.
func (d *demo) run(ctx, patience context.Context) error {
	release, err := lockDir(d.opts.dir)
	if err != nil {
		return err
	}
	defer release()
	if err := refuseKept(d.opts.dir); err != nil {
		return err
	}
	err = d.show(ctx)
	d.screen.Finish()
	if len(d.results) > 0 {
		d.screen.Printf("%s", d.summary())
	}
	switch {
	case err == nil || d.operator == nil: // there is no log that would explain more
	case errors.Is(err, errInterrupted):
		d.sayf("Interrupted; a second time skips the finalizers")
	default:
		d.explain(err)
	}
	if d.opts.keep && d.operator != nil && !errors.Is(err, errInterrupted) {
		return errors.Join(err, d.leave(patience))
	}
	err = errors.Join(err, d.undo.run(patience, d.sayf))
	if err == nil {
		d.sayf("Done")
	}
	return err
}

// show goes through the phases of the demo. It ends early if the operator does.
func (d *demo) show(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	phases := []func(context.Context) error{
		d.startCluster,
		d.installCRDs,
		d.teachGarbageCollector,
		d.makeNamespace,
		d.startStore,
		func(ctx context.Context) error { return d.startOperator(ctx, end) },
		d.watchNamespace,
		d.applySamples,
		d.awaitSamples,
		d.takeSteps,
	}
	for _, phase := range phases {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sayf prints a line of progress, with the seconds since the start.
func (d *demo) sayf(format string, args ...any) {
	elapsed := time.Since(d.started).Seconds()
	d.screen.Printf("[%5.1f s] %s", elapsed, fmt.Sprintf(format, args...))
}

// How often a wait shows that it is still one: on a terminal in place, elsewhere by a line.
const (
	tickTerminal = time.Second
	tickPlain    = 10 * time.Second
)

// wait calls fn with a deadline, and meanwhile tells what is waited for. An error of fn that the deadline or
// somebody else brought about gives way to the cause.
func (d *demo) wait(ctx context.Context, what string, limit time.Duration, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s: not within %s", what, limit))
	defer cancel()
	told := make(chan struct{})
	go func() {
		defer close(told)
		d.tell(ctx, what)
	}()
	err := fn(ctx)
	switch cause := context.Cause(ctx); {
	case err == nil || cause == nil:
	case errors.Is(cause, errInterrupted) || !errors.Is(err, cause):
		err = cause // what was still missing is of no interest, or not known
	}
	cancel()
	<-told
	return err
}

// tell shows what is waited for, until ctx ends.
func (d *demo) tell(ctx context.Context, what string) {
	interval := tickPlain
	if d.terminal {
		interval = tickTerminal
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	defer d.screen.Status("")
	for begun := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		waited := time.Since(begun).Round(time.Second)
		if d.terminal {
			d.screen.Status(fmt.Sprintf("waiting: %s (%s)", what, waited))
			continue
		}
		d.sayf("waiting: %s (%s)", what, waited)
	}
}

// path returns the path of a file of the demo.
func (d *demo) path(name string) string { return filepath.Join(d.opts.dir, name) }
