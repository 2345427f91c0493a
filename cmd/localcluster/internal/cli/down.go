package cli

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/procs"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/supervise"
)

func newDown() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "down --dir DIR",
		Short: "End a cluster and remove every process and file of it",
		Args:  noArgs,
	}
	dir := dirFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		d, err := dir()
		if err != nil {
			return err
		}
		return down(d, cmd.OutOrStdout())
	}
	return cmd
}

// down asks the supervisor to clean up, and does it itself where there is none.
func down(dir layout.Dir, stdout io.Writer) error {
	lock, err := layout.Existing(dir)
	ran := errors.Is(err, layout.ErrBusy)
	if ran {
		lock, err = evict(dir)
	}
	switch {
	case ran && (errors.Is(err, layout.ErrNone) || errors.Is(err, layout.ErrForeign)):
		// The supervisor has removed the marker last. What is left, if anything, is not ours.
		_, _ = fmt.Fprintln(stdout, "The cluster has ended.")
		return nil
	case errors.Is(err, layout.ErrNone):
		return nil
	case errors.Is(err, layout.ErrForeign):
		return fmt.Errorf("%s is not the directory of a local cluster; nothing was removed", dir)
	case err != nil:
		return fmt.Errorf("cannot use the directory %s: %w", dir, cause(err))
	}
	defer lock.Release()
	if err := supervise.Sweep(dir, procs.System()); err != nil {
		return err
	}
	if err := dir.Remove(); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(stdout, "What was left of the cluster is cleared away.")
	return nil
}

// How long a supervisor gets for the clean-up before it is killed, and how often it is looked for.
const (
	evictLimit    = 15 * time.Second
	evictInterval = 20 * time.Millisecond
)

// evict ends the supervisor and takes the lock it held.
func evict(dir layout.Dir) (*layout.Lock, error) {
	table := procs.System()
	deadline := time.Now().Add(evictLimit)
	for asked := false; ; time.Sleep(evictInterval) {
		lock, err := layout.Existing(dir)
		if !errors.Is(err, layout.ErrBusy) {
			return lock, err
		}
		// While a cluster starts, there is a moment without a state file.
		status, err := layout.ReadStatus(dir)
		switch {
		case err != nil && time.Now().After(deadline):
			return nil, fmt.Errorf("a process holds %s but left no state; look for it with ps", dir.Path(layout.Marker))
		case err != nil:
			continue
		case time.Now().After(deadline):
			if err := supervise.End(dir, table, status.Supervisor); err != nil {
				return nil, err
			}
		case !asked:
			if err := table.Signal(status.Supervisor, string(dir), syscall.SIGTERM); err != nil {
				return nil, err
			}
			asked = true
		}
	}
}
