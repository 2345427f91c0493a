package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/runner"
)

// runsFlags are the flags of runs.
type runsFlags struct {
	options    runner.RunsOptions
	namespaces []string
	kinds      []string
	names      []string
	states     []string
	output     string
	watch      bool
}

// Values of --output.
const (
	asTable = "table"
	asWide  = "wide"
	asJSON  = "json"
)

// states are the values of --state.
var states = []string{
	string(runner.RunQueued), string(runner.RunRunning), string(runner.RunEnded), string(runner.RunInterrupted), string(runner.RunPlanned),
}

func newRunsCommand() *cobra.Command {
	f := &runsFlags{}
	cmd := &cobra.Command{
		Use:   "runs [RUN]",
		Short: "Show what ran, what runs and what waits, and why",
		Long: `Show the runs of the operators on this machine: those that wait, those in progress and those
that have ended, the newest first. With the id of a run, show all that is known of it: why it
ran, which way it took and why, what came of it, and where its artifacts are.

Nothing is asked of the cluster. In a cluster, ask where the operator runs:

  kubectl exec deploy/NAME -- chartbook runs

The column EXECUTOR has what carried a run out, and in parentheses why it was not what was asked
for. REASON says why a run that has ended was not good; of one that waits it says for what:

  Worker   other resources of the kind, see maxConcurrentReconciles
  Slot     runs of all kinds, see --max-concurrent-runs
  Run      the run of the same resource that is in progress

The exit code is 0 when the runs were shown, 1 when no operator has run here or there is no such
run, 2 for wrong usage.`,
		Example: `  chartbook runs --namespace shop --kind Database
  chartbook runs --state planned
  chartbook runs bm5prwn5gud4w`,
		Args: maxArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVarP(&f.namespaces, "namespace", "n", nil, "show runs in this namespace only; may be given several times")
	flags.StringSliceVar(&f.kinds, "kind", nil, "show runs of this kind only, like Database or Database.example.com; may be given several times")
	flags.StringSliceVar(&f.names, "name", nil, "show runs of the resource of this name only; may be given several times")
	flags.StringSliceVar(&f.states, "state", states[:4], "show runs in this state only: "+strings.Join(states, ", "))
	flags.StringVarP(&f.output, "output", "o", asTable, "how to show them: table, wide or json")
	flags.BoolVarP(&f.watch, "watch", "w", false, "go on, and show what changes")
	flags.StringVar(&f.options.PrivateDir, "private-dir", "", "private directory of the operator; empty means where run has it by default")
	f.complete(cmd)
	return cmd
}

func (f *runsFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.check(cmd, args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(args) == 1 {
		return f.show(ctx, cmd, args[0])
	}
	report, err := runner.Runs(ctx, f.options)
	if err != nil {
		return err
	}
	for _, note := range report.Notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", cmd.Root().Name(), note)
	}
	chosen := f.chosen(report.Runs)
	if f.watch {
		return f.follow(ctx, cmd, chosen)
	}
	if f.output == asJSON {
		return printJSON(cmd, chosen)
	}
	if len(chosen) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "no runs")
		return nil
	}
	return newRunsTable(cmd.OutOrStdout(), f.output == asWide).show(chosen, time.Now())
}

// check refuses flags that say nothing or contradict each other.
func (f *runsFlags) check(cmd *cobra.Command, args []string) error {
	if !slices.Contains([]string{asTable, asWide, asJSON}, f.output) {
		return usagef("--output is %q; use table, wide or json", f.output)
	}
	for _, state := range f.states {
		if !slices.Contains(states, state) {
			return usagef("--state is %q; use %s", state, strings.Join(states, ", "))
		}
	}
	if len(args) == 0 {
		return nil
	}
	for _, name := range []string{"namespace", "kind", "name", "state", "watch"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s chooses among runs, and one was given by its id; %s", name, seeHelp(cmd))
		}
	}
	return nil
}

// chosen returns the runs that the flags ask for.
func (f *runsFlags) chosen(runs []runner.RunRecord) []runner.RunRecord {
	among := func(list []string, values ...string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(wanted string) bool {
			return slices.ContainsFunc(values, func(value string) bool { return strings.EqualFold(value, wanted) })
		})
	}
	wanted := []runner.RunRecord{}
	for _, r := range runs {
		if among(f.namespaces, r.Namespace) && among(f.names, r.Name) && among(f.states, string(r.State)) && among(f.kinds, r.Kind, kindAndGroup(r)) {
			wanted = append(wanted, r)
		}
	}
	return wanted
}

// kindAndGroup names a kind like Database.example.com.
func kindAndGroup(r runner.RunRecord) string {
	group, _, found := strings.Cut(r.APIVersion, "/")
	if !found {
		return r.Kind
	}
	return r.Kind + "." + group
}

// show tells all about one run.
func (f *runsFlags) show(ctx context.Context, cmd *cobra.Command, id string) error {
	report, err := runner.Runs(ctx, f.options)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(report.Runs, func(r runner.RunRecord) bool { return r.ID == id })
	if i < 0 {
		return fmt.Errorf("there is no record of a run %q; '%s' lists those that there are", id, cmd.CommandPath())
	}
	if f.output == asJSON {
		return printJSON(cmd, report.Runs[i])
	}
	return printDetails(cmd.OutOrStdout(), report.Runs[i], time.Now())
}

func printJSON(cmd *cobra.Command, value any) error {
	encoder := json.NewEncoder(cmd.OutOrStdout())
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// complete offers values of flags and the ids of runs to the shell.
func (f *runsFlags) complete(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		report, err := runner.Runs(cmd.Context(), f.options)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []string
		for _, r := range report.Runs {
			if r.ID != "" {
				ids = append(ids, cobra.CompletionWithDesc(r.ID, kindAndName(r)))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
	for flag, values := range map[string][]string{"output": {asTable, asWide, asJSON}, "state": states} {
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flag is ours, so it exists
		}
	}
}
