package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/kube"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/procs"
)

func newStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status --dir DIR",
		Short: "Show the components of a cluster; exit code 1 unless all is well",
		Args:  noArgs,
	}
	dir := dirFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		d, err := dir()
		if err != nil {
			return err
		}
		return show(cmd.Context(), d, cmd.OutOrStdout())
	}
	return cmd
}

func show(ctx context.Context, dir layout.Dir, stdout io.Writer) error {
	status, err := layout.ReadStatus(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no cluster in %s; start one with localcluster up --dir %s", dir, dir)
	}
	if err != nil {
		return err
	}
	if status.Phase == layout.Failed {
		return fmt.Errorf("the cluster in %s did not start: %s", dir, status.Error)
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "cluster\t%s\t%s\n", status.Phase, status.Server)
	fmt.Fprintf(table, "supervisor\t%s\tpid %d\n", life(dir, status.Supervisor), status.Supervisor.PID)
	for _, name := range plan.Names() {
		c, found := status.Component(name)
		if !found {
			fmt.Fprintf(table, "%s\tnot started\n", name)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\tpid %d\tup %s\t%s\n", name, life(dir, c.ID), c.PID, age(c.Started), restarts(c))
	}
	err = healthy(ctx, dir, status)
	if err == nil {
		fmt.Fprintf(table, "nodes\tready\t%d\n", status.Nodes)
	}
	_ = table.Flush()
	if err != nil {
		return fmt.Errorf("the cluster in %s is %w; read the logs in %s", dir, err, dir.Path(layout.Logs))
	}
	return nil
}

// healthy tells whether all processes live and the cluster does what it is there for.
func healthy(ctx context.Context, dir layout.Dir, status layout.Status) error {
	if status.Phase == layout.Failed {
		return fmt.Errorf("not started: %s", status.Error)
	}
	if !procs.System().Ours(status.Supervisor, string(dir)) {
		return errors.New("dead: its supervisor was killed")
	}
	for _, name := range plan.Names() {
		if c, found := status.Component(name); !found || !procs.System().Ours(c.ID, string(dir)) {
			return fmt.Errorf("not complete: %s does not run", name)
		}
	}
	if status.Phase != layout.Ready {
		return fmt.Errorf("still %s", status.Phase)
	}
	return serves(ctx, dir)
}

// serves asks the API server.
func serves(ctx context.Context, dir layout.Dir) error {
	client, err := kube.FromKubeconfig(dir.Path(layout.Kubeconfig))
	if err != nil {
		return fmt.Errorf("out of reach: %w", err)
	}
	if err := client.ServerReady(ctx); err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	if err := client.NodesReady(ctx, 0); err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	return nil
}

func life(dir layout.Dir, id procs.ID) string {
	if procs.System().Ours(id, string(dir)) {
		return "running"
	}
	return "gone"
}

func age(since time.Time) time.Duration { return time.Since(since).Round(time.Second) }

func restarts(c layout.Component) string {
	if c.Restarts == 0 {
		return ""
	}
	return fmt.Sprintf("restarted %d times, last end: %s", c.Restarts, c.LastExit)
}
