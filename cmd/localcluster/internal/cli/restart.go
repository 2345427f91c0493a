package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/kube"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/procs"
)

func newRestart() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restart --dir DIR COMPONENT",
		Short: "Kill one component and return when it runs again, on the same port and with the same data",
		Long: `Restart kills a component with SIGKILL, as a crash would. The supervisor starts it again.
Components: ` + strings.Join(plan.Names(), ", ") + `.`,
		Example:   "  localcluster restart --dir .cluster apiserver",
		ValidArgs: plan.Names(),
	}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("name one component to restart: %s", strings.Join(plan.Names(), ", "))
		}
		if _, known := plan.Name(args[0]); !known {
			return usagef("unknown component %q: use one of %s", args[0], strings.Join(plan.Names(), ", "))
		}
		return nil
	}
	dir := dirFlag(cmd)
	wait := cmd.Flags().Duration("wait", time.Minute, "how long the component may take to come back")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := dir()
		if err != nil {
			return err
		}
		name, _ := plan.Name(args[0])
		ctx, cancel := context.WithTimeoutCause(cmd.Context(), *wait, fmt.Errorf("not back after %s", *wait))
		defer cancel()
		return restart(ctx, d, name, cmd.OutOrStdout())
	}
	return cmd
}

func restart(ctx context.Context, dir layout.Dir, name string, stdout io.Writer) error {
	status, err := layout.ReadStatus(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no cluster in %s; start one with localcluster up --dir %s", dir, dir)
	}
	if err != nil {
		return err
	}
	old, found := status.Component(name)
	if !found || !procs.System().Ours(status.Supervisor, string(dir)) {
		return fmt.Errorf("%s does not run in %s; see localcluster status --dir %s", name, dir, dir)
	}
	begun := time.Now()
	if err := procs.System().Signal(old.ID, string(dir), syscall.SIGKILL); err != nil {
		return err
	}
	err = kube.Poll(ctx, 25*time.Millisecond, func(ctx context.Context) error { return back(ctx, dir, old) })
	if err != nil {
		return fmt.Errorf("%s is %w; read %s", name, err, dir.Log(name))
	}
	fmt.Fprintf(stdout, "%s is back after %s\n", name, time.Since(begun).Round(10*time.Millisecond))
	return nil
}

// back tells whether the component has a new process and the cluster is well with it.
func back(ctx context.Context, dir layout.Dir, old layout.Component) error {
	status, err := layout.ReadStatus(dir)
	if err != nil {
		return err
	}
	if c, found := status.Component(old.Name); !found || c.ID == old.ID {
		return fmt.Errorf("%s has not been started again", old.Name)
	}
	return healthy(ctx, dir, status)
}
