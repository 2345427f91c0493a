package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// The clusters that the demo can use.
const (
	clusterLocal   = "local"   // a throw-away control plane of its own
	clusterCurrent = "current" // the current context of the kubeconfig
)

// options are the settings of a demo.
type options struct {
	cluster   string
	dir       string
	namespace string
	keep      bool
	yes       bool
	timeout   time.Duration

	operator     string // path of bin/chartbook
	localcluster string // path of bin/localcluster
	watches      string
	crds         string
	samples      string
}

// usageError is wrong usage: nothing was tried.
type usageError struct{ error }

// Unwrap returns what is wrong.
func (e *usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// newRootCommand returns the command line. Cleaning up ends early when patience does.
func newRootCommand(patience context.Context) *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:   "demo",
		Short: "Show Chartbook at work",
		Long: `Show Chartbook at work: start a cluster and the operator, apply the samples, then change a spec, edit
and delete what the operator made, delete a resource that has a finalizer, take a label away, and tell each
time what happened and how long it took. Everything is taken down at the end, also after Ctrl-C; a second
Ctrl-C does not wait for finalizers.`,
		Example: `  # on a throw-away control plane
  demo

  # on the cluster of the current context, in a namespace of its own
  demo --cluster current`,
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return newDemo(o, cmd).run(cmd.Context(), patience)
		},
	}
	o.bind(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see '%s --help'", err, cmd.CommandPath())
	})
	root.AddCommand(newDownCommand(patience), newStoreCommand())
	return root
}

func (o *options) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.cluster, "cluster", clusterLocal, "local: a throw-away control plane; current: the current context of the kubeconfig")
	flags.StringVar(&o.namespace, "namespace", "chartbook-demo", "namespace of the samples; the operator sees no other")
	flags.BoolVar(&o.keep, "keep", false, "leave cluster and operator running at the end")
	flags.BoolVar(&o.yes, "yes", false, "do not ask before using the current context")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long any one thing may be waited for")
	bindDir(cmd, &o.dir)
	flags.StringVar(&o.operator, "operator", "bin/chartbook", "program of the operator")
	flags.StringVar(&o.localcluster, "localcluster", "bin/localcluster", "program of the throw-away control plane")
	flags.StringVar(&o.watches, "watches-file", "watches.yaml", "what the operator runs")
	flags.StringVar(&o.crds, "crds", "deploy/crds", "directory of the CRDs")
	flags.StringVar(&o.samples, "samples", "deploy/samples", "directory of the samples")
}

func bindDir(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", ".local/demo", "directory of the operator's log and the local cluster")
}

func (o *options) validate() error {
	switch {
	case o.cluster != clusterLocal && o.cluster != clusterCurrent:
		return usagef("--cluster is %q; use %s or %s", o.cluster, clusterLocal, clusterCurrent)
	case o.namespace == "":
		return usagef("--namespace is empty; name one for the samples")
	case o.dir == "":
		return usagef("--dir is empty; name one for the operator's log")
	case o.timeout <= 0:
		return usagef("--timeout is %s; use a positive duration such as 2m", o.timeout)
	}
	return nil
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q; see '%s --help'", args[0], cmd.CommandPath())
	}
	return nil
}
