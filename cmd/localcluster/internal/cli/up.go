package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/kube"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/supervise"
)

func newUp() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "up --dir DIR",
		Short: "Start a cluster and return when it is ready",
		Long: `Up starts a cluster in a directory and returns when its API server, its nodes and its service accounts are
ready. The admin's kubeconfig is DIR/kubeconfig.

A cluster that runs there already is left alone. What a killed one left is cleared away, and a fresh one is started:
data never survives the cluster that wrote it.`,
		Args: noArgs,
	}
	options := startFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := options()
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		return up(ctx, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

func up(ctx context.Context, o supervise.Options, stdout, stderr io.Writer) error {
	lock, err := acquire(o.Dir)
	if errors.Is(err, layout.ErrBusy) {
		return join(ctx, o, stdout)
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	begun := time.Now()
	if err := launch(ctx, o, lock, stderr); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "The cluster is ready after %s. Use it with:\n  export KUBECONFIG=%s\n",
		time.Since(begun).Round(100*time.Millisecond), o.Dir.Path(layout.Kubeconfig))
	return nil
}

// launch starts the supervisor in a session of its own and follows its report until the cluster is ready.
func launch(ctx context.Context, o supervise.Options, lock *layout.Lock, stderr io.Writer) error {
	report, theirs, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("cannot make a pipe: %w", err)
	}
	defer func() { _ = report.Close() }()
	command := supervisor(o, lock, theirs)
	err = command.Start()
	_ = theirs.Close()
	if err != nil {
		return fmt.Errorf("cannot start the supervisor: %w", err)
	}
	stopWatching := context.AfterFunc(ctx, func() { _ = command.Process.Signal(syscall.SIGTERM) })
	defer stopWatching()
	var last supervise.Event
	told := supervise.ReadEvents(report, func(e supervise.Event) {
		last = e
		if e.Step != "" {
			fmt.Fprintln(stderr, e.Step)
		}
	})
	switch {
	case ctx.Err() != nil:
		_ = command.Wait()
		return errors.New("interrupted; the cluster was ended")
	case !told:
		return fmt.Errorf("the supervisor ended without a word (%w); read %s", command.Wait(), o.Dir.Log(supervise.LogName))
	case last.Error != "":
		_ = command.Wait()
		return failed(last, stderr)
	}
	return nil
}

// failed shows the end of the log first, so that the error is the last line on the screen.
func failed(e supervise.Event, stderr io.Writer) error {
	for _, line := range e.Tail {
		fmt.Fprintln(stderr, "  | "+line)
	}
	return errors.New(e.Error)
}

// supervisor is the command that runs on after this one.
func supervisor(o supervise.Options, lock *layout.Lock, report *os.File) *exec.Cmd {
	command := exec.Command(supervise.Self, "supervise", "--dir", string(o.Dir),
		fmt.Sprintf("--port=%d", o.Port), fmt.Sprintf("--nodes=%d", o.Nodes), fmt.Sprintf("--wait=%s", o.Wait))
	command.Args[0] = "localcluster"
	command.Dir = "/"
	command.ExtraFiles = []*os.File{lock.File(), report}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return command
}

// join waits for a cluster that runs already, or is being started by someone else.
func join(ctx context.Context, o supervise.Options, stdout io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Wait, fmt.Errorf("not ready after %s", o.Wait))
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	err := kube.Poll(ctx, 100*time.Millisecond, func(ctx context.Context) error {
		status, err := layout.ReadStatus(o.Dir)
		if lock, lockErr := layout.Existing(o.Dir); !errors.Is(lockErr, layout.ErrBusy) {
			if lock != nil {
				lock.Release()
			}
			giveUp(errors.New("ending"))
		}
		if err != nil {
			return err
		}
		return healthy(ctx, o.Dir, status)
	})
	if err != nil {
		return fmt.Errorf("a cluster runs in %s but is %w; see localcluster status --dir %s", o.Dir, err, o.Dir)
	}
	fmt.Fprintf(stdout, "The cluster is up already. Use it with:\n  export KUBECONFIG=%s\n", o.Dir.Path(layout.Kubeconfig))
	return nil
}
