package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/runner"
)

// errRunFailed is for a run that did not do what it was for; why was printed.
var errRunFailed = fmt.Errorf("the run failed: %w", errReported)

func newExecCommand() *cobra.Command {
	f := &benchFlags{options: runner.DefaultOptions(runner.Chartbook)}
	var o runner.ExecOptions
	cmd := &cobra.Command{
		Use:   "exec -f FILE",
		Short: "Run a resource once, now, and show its progress",
		Long: `Run the content of a resource once, now, as the operator would, and show each step. The
resource is read from a file. What the run makes has the resource as its owner if that is in
the cluster, else no owner. Status and finalizers of the resource are left alone.

An operator that watches the same resource should not run meanwhile, or the resource be
paused: kubectl annotate KIND NAME chartbook.dev/paused=true

The exit code is 1 if the run fails.`,
		Example: `  chartbook exec -f sample.yaml
  chartbook exec -f sample.yaml --finalize`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.exec(cmd, o) },
	}
	f.bind(cmd.Flags())
	cmd.Flags().BoolVar(&o.Finalize, "finalize", false, "clean up after the resource instead of bringing it about")
	cmd.Flags().DurationVar(&f.options.RunTimeout, "run-timeout", f.options.RunTimeout, "deadline of the run where watches.yaml gives none; 0 for none")
	cmd.Flags().IntVar(&f.options.Ansible.Verbosity, "ansible-verbosity", f.options.Ansible.Verbosity, "number of v's for ansible-playbook, 0 to 7")
	return cmd
}

func (f *benchFlags) exec(cmd *cobra.Command, o runner.ExecOptions) error {
	resources, err := f.resources(cmd)
	if err != nil {
		return err
	}
	bench, err := f.open(false)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	o.Namespace = f.namespace
	out := cmd.OutOrStdout()
	o.Progress = func(s runner.Step) { printStep(out, s) }
	var failed error
	for _, obj := range resources {
		fmt.Fprintf(out, "%s %s\n", obj.GetKind(), obj.GetName())
		ending, err := bench.Exec(ctx, obj, o)
		if err != nil {
			return invalid(err)
		}
		printEnding(out, ending)
		if !ending.OK {
			failed = errRunFailed
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			break
		}
	}
	return failed
}

// printStep prints a line for each step that ends, and for each thing that takes a while when it begins.
func printStep(out io.Writer, s runner.Step) {
	if s.Kind == "stats" {
		return
	}
	fmt.Fprintf(out, "  %s  %-11s %s", s.Time.Format(time.TimeOnly), stepWord(s), s.Task)
	if s.Duration > 0 {
		fmt.Fprintf(out, " (%s)", s.Duration.Round(10*time.Millisecond))
	}
	if s.Message != "" && s.Task != "" {
		fmt.Fprint(out, ":")
	}
	if s.Message != "" {
		fmt.Fprintf(out, " %s", s.Message)
	}
	if s.Place != "" && s.Kind == "failed" {
		fmt.Fprintf(out, " [%s]", s.Place)
	}
	fmt.Fprintln(out)
}

// stepWord is the word that a step's line begins with.
func stepWord(s runner.Step) string {
	switch {
	case s.Kind == "task_started":
		return "..."
	case s.Kind == "ok" && s.Changed:
		return "changed"
	case s.Kind == "failed" && s.Ignored:
		return "ignored"
	}
	return s.Kind
}

func printEnding(out io.Writer, e runner.Ending) {
	fmt.Fprintf(out, "%s in %s", e.Outcome, e.Took.Round(10*time.Millisecond))
	if e.Reason != "" {
		fmt.Fprintf(out, ", %s", e.Reason)
	}
	if e.Message != "" {
		fmt.Fprintf(out, ": %s", e.Message)
	}
	fmt.Fprintln(out)
	if e.OK && !e.Owned {
		fmt.Fprintln(out, "What was made has no owner, since the resource is not in the cluster.")
	}
}
