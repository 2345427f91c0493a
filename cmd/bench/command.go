package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
)

// The executors that are compared. The first one is how the old tool runs playbooks.
var executors = []string{"runner", "direct", "warm"}

// options are the settings of a session.
type options struct {
	executors    []string
	rounds       int
	quick        bool
	keep         bool
	json         string
	operator     string // path of bin/chartbook
	localcluster string // path of bin/localcluster
}

// load is how much is asked for in one round.
type load struct {
	singles  int // resources one after the other
	together int // resources at one time, with as many runs at one time as the operator sees fit
	crowd    int // runs at one time
	reads    int // tasks of the play that reads
}

var (
	fullLoad  = load{singles: 5, together: 20, crowd: 10, reads: 20}
	quickLoad = load{singles: 1, together: 2, crowd: 2, reads: 2}
)

func (o *options) load() load {
	if o.quick {
		return quickLoad
	}
	return fullLoad
}

func newCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what a run costs, for each executor",
		Long: `Measure what a run costs, for each executor: start a control plane and one operator per executor, create
resources, and print a table with the time until they are Successful, CPU, memory and requests, the ratios
to the old tool's way (runner: ansible-runner, ansible-playbook and a Python per module) and the goals.`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return run(cmd.Context(), o, newProgress(os.Stderr), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&o.executors, "executors", executors, "what to compare; the first one is what the others are compared with")
	flags.IntVar(&o.rounds, "rounds", 3, "how often everything is measured")
	flags.BoolVar(&o.quick, "quick", false, "one small round, to see that everything works")
	flags.StringVar(&o.json, "json", "bin/bench.json", "file to write all figures to")
	flags.BoolVar(&o.keep, "keep", false, "keep the operators' logs")
	flags.StringVar(&o.operator, "operator", "bin/chartbook", "program of the operator")
	flags.StringVar(&o.localcluster, "localcluster", "bin/localcluster", "program of the throw-away control plane")
	return cmd
}

func (o *options) validate() error {
	if o.rounds < 1 {
		return errors.New("--rounds must be at least 1")
	}
	if o.quick {
		o.rounds = 1
	}
	if len(o.executors) == 0 {
		return errors.New("--executors is empty")
	}
	for _, name := range o.executors {
		if !slices.Contains(executors, name) {
			return fmt.Errorf("--executors: there is no executor %q; use some of %v", name, executors)
		}
	}
	return nil
}
