package cli

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/supervise"
)

// maxPort is the highest TCP port.
const maxPort = 1<<16 - 1

// startFlags are the flags of the commands that start a cluster.
func startFlags(cmd *cobra.Command) func() (supervise.Options, error) {
	dir := dirFlag(cmd)
	wait := cmd.Flags().Duration("wait", time.Minute, "how long the start may take")
	port := cmd.Flags().Int("port", 0, "port of the API server; 0 takes a free one")
	nodes := cmd.Flags().Int("nodes", 1, "number of fake nodes")
	return func() (supervise.Options, error) {
		d, err := dir()
		switch {
		case err != nil:
			return supervise.Options{}, err
		case *port < 0 || *port > maxPort:
			return supervise.Options{}, usagef("--port %d is not a port: use 1 to %d, or 0 for a free one", *port, maxPort)
		case *nodes < 1 || *nodes > 250:
			return supervise.Options{}, usagef("--nodes %d is out of range: use 1 to 250", *nodes)
		case *wait <= 0:
			return supervise.Options{}, usagef("--wait %s is too short: use a positive duration such as 60s", *wait)
		}
		return supervise.Options{Dir: d, Port: *port, Nodes: *nodes, Wait: *wait}, nil
	}
}

// acquire takes the lock of a directory, with an explanation if that is not possible.
func acquire(dir layout.Dir) (*layout.Lock, error) {
	lock, err := layout.Create(dir)
	switch {
	case err == nil || errors.Is(err, layout.ErrBusy):
		return lock, err
	case errors.Is(err, layout.ErrForeign):
		return nil, fmt.Errorf("%s holds files that are not a cluster's; choose an empty or a new directory", dir)
	}
	return nil, fmt.Errorf("cannot use the directory %s: %w; choose one that you may write to", dir, cause(err))
}

// cause drops the path from an error of package os when the message names it already.
func cause(err error) error {
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}
