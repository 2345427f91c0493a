package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/supervise"
)

// The open files that `up` hands to the supervisor.
const (
	lockFD   = 3
	reportFD = 4
)

// newSupervise is the process that `up` leaves behind.
func newSupervise() *cobra.Command {
	cmd := &cobra.Command{Use: "supervise", Hidden: true, Args: noArgs}
	options := startFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := options()
		if err != nil {
			return err
		}
		lock := layout.Inherited(lockFD)
		defer lock.Release()
		report := os.NewFile(reportFD, "report")
		syscall.CloseOnExec(reportFD)
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
		return serve(ctx, o, supervise.Reporter(report))
	}
	return cmd
}

// serve runs a cluster until the context ends.
func serve(ctx context.Context, o supervise.Options, report func(supervise.Event)) error {
	starter, err := supervise.NewStarter(o.Dir)
	if err != nil {
		return err
	}
	return supervise.New(o, starter, report).Run(ctx)
}

func newRun() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run --dir DIR",
		Short: "Run a cluster in the foreground until SIGINT or SIGTERM",
		Args:  noArgs,
	}
	options := startFlags(cmd)
	withParent := cmd.Flags().Bool("with-parent", false, "also end when the process that started this one ends")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := options()
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		if *withParent {
			var cancel context.CancelFunc
			ctx, cancel = withParentOf(ctx, os.Getppid, time.Tick(parentInterval))
			defer cancel()
		}
		return run(ctx, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

func run(ctx context.Context, o supervise.Options, stdout, stderr io.Writer) error {
	lock, err := acquire(o.Dir)
	if errors.Is(err, layout.ErrBusy) {
		return fmt.Errorf("a cluster runs in %s already; end it with localcluster down --dir %s", o.Dir, o.Dir)
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	return serve(ctx, o, func(e supervise.Event) {
		switch {
		case e.Step != "":
			fmt.Fprintln(stderr, e.Step)
		case e.Ready:
			fmt.Fprintf(stdout, "The cluster is ready. Use it with:\n  export KUBECONFIG=%s\n", o.Dir.Path(layout.Kubeconfig))
		default:
			_ = failed(e, stderr)
		}
	})
}

// parentInterval is how late the death of the parent may be noticed.
const parentInterval = 250 * time.Millisecond

// withParentOf ends the context when the parent is no longer the one it was at first: orphans get another one.
func withParentOf(ctx context.Context, parent func() int, tick <-chan time.Time) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	first := parent()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick:
				if parent() != first {
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}
