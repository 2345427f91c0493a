package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/chartbook-operator/chartbook/runner"
)

// releaseFlags are the flags of release-finalizers.
type releaseFlags struct {
	options             runner.ReleaseOptions
	kubeconfig, context string
	allNamespaces       bool
	dryRun, yes         bool
}

func newReleaseFinalizersCommand() *cobra.Command {
	f := &releaseFlags{}
	cmd := &cobra.Command{
		Use:   "release-finalizers",
		Short: "Let go of all resources before the operator is removed",
		Long: `Take the operator's finalizers off its resources: those of watches.yaml, and for charts those
of Helm. Without the operator nobody would, and neither the resources nor their namespaces
could be deleted any more.

Nothing is cleaned up. Where that matters, delete the resources while the operator runs, and
let go of those that are left. Stop the operator first, or it holds on again:

  kubectl scale --replicas=0 deployment/...

Finalizers of others stay. Kinds that the cluster does not serve are passed over. The namespaces
are those of --namespace, else of the environment variable WATCH_NAMESPACE, else all.

The exit code is 0 when all resources were released, 1 when some were not or the answer was no,
2 for wrong usage.`,
		Example: `  chartbook release-finalizers --dry-run
  chartbook release-finalizers --namespace shop --kind Database --yes`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.options.WatchesFile, "watches-file", "./watches.yaml", "path of watches.yaml")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "path of a kubeconfig; what holds without it is what holds for run")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig; empty means its current one")
	flags.StringSliceVarP(&f.options.Namespaces, "namespace", "n", nil, "namespace to look into; may be given several times")
	flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "look into all namespaces, whatever WATCH_NAMESPACE says, and at resources without one")
	flags.StringSliceVar(&f.options.Kinds, "kind", nil, "kind to look at, like Database or Database.example.com; may be given several times")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would be released, and change nothing")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return cmd
}

func (f *releaseFlags) run(cmd *cobra.Command) error {
	if err := f.complete(cmd); err != nil {
		return err
	}
	config, err := loadConfig(f.kubeconfig, f.context)
	if err != nil {
		return err
	}
	f.options.RESTConfig = config
	releaser, err := runner.NewReleaser(f.options)
	if _, invalid := errors.AsType[*runner.InvalidError](err); invalid {
		return &usageError{err}
	}
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	held, err := find(ctx, cmd, releaser)
	if err != nil || len(held) == 0 {
		return err
	}
	if f.dryRun {
		table := newReleaseTable(cmd)
		for _, h := range held {
			table.row(h, "would be released")
		}
		return table.close()
	}
	if err := f.confirm(cmd, len(held), config.Host); err != nil {
		return err
	}
	return releaseAll(ctx, cmd, releaser, held)
}

// complete settles what flags and environment say together.
func (f *releaseFlags) complete(cmd *cobra.Command) error {
	switch {
	case f.allNamespaces && len(f.options.Namespaces) > 0:
		return usagef("only one of --namespace and --all-namespaces may be given; %s", seeHelp(cmd))
	case !f.dryRun && !f.yes && !canAnswer(cmd):
		return usagef("nobody is there to be asked; add --yes, or --dry-run to look only")
	case !f.allNamespaces && len(f.options.Namespaces) == 0:
		f.options.Namespaces = runner.ParseNamespaces(os.Getenv("WATCH_NAMESPACE"))
	}
	return nil
}

// find collects what is held, and says how far it is.
func find(ctx context.Context, cmd *cobra.Command, releaser *runner.Releaser) ([]runner.HeldResource, error) {
	const step = 1000
	var held []runner.HeldResource
	missing, err := releaser.Find(ctx, func(h runner.HeldResource) {
		if held = append(held, h); len(held)%step == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "found %d resources so far\n", len(held))
		}
	})
	for _, kind := range missing {
		fmt.Fprintf(cmd.ErrOrStderr(), "the cluster does not serve %s, so there is none\n", kind)
	}
	if err != nil {
		return nil, err
	}
	if len(held) == 0 {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "no resource is held")
	}
	return held, err
}

// canAnswer reports whether a question reaches a person.
func canAnswer(cmd *cobra.Command) bool {
	file, ok := cmd.InOrStdin().(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

var errDeclined = errors.New("not confirmed; nothing was changed")

// confirm asks whether to go on.
func (f *releaseFlags) confirm(cmd *cobra.Command, n int, host string) error {
	if f.yes {
		return nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Take the operator's finalizers off %s at %s, without cleaning up? [y/N] ", count(n, "resource", "resources"), host)
	var answer string
	_, _ = fmt.Fscanln(cmd.InOrStdin(), &answer) // no answer is no
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return errDeclined
	}
	return nil
}

// releaseAll lets go of one resource after the other. One that cannot be released does not keep the others.
func releaseAll(ctx context.Context, cmd *cobra.Command, releaser *runner.Releaser, held []runner.HeldResource) error {
	table := newReleaseTable(cmd)
	failed := 0
	for _, h := range held {
		outcome := "released"
		if h.Deleting && len(h.Others) == 0 {
			outcome = "released and gone"
		}
		if err := releaser.Release(ctx, h); err != nil {
			failed++
			outcome = "failed: " + err.Error()
		}
		table.row(h, outcome)
	}
	if err := table.close(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s could not be released", failed, count(len(held), "resource", "resources"))
	}
	return nil
}

// releaseTable prints what became of each resource, some lines at a time, so that the reader sees how far it is.
type releaseTable struct {
	writer *tabwriter.Writer
	rows   int
}

func newReleaseTable(cmd *cobra.Command) *releaseTable {
	t := &releaseTable{writer: tabwriter.NewWriter(cmd.OutOrStdout(), 8, 0, 2, ' ', 0)}
	fmt.Fprintln(t.writer, "KIND\tNAMESPACE\tNAME\tFINALIZERS\tOTHERS\tOUTCOME")
	return t
}

func (t *releaseTable) row(h runner.HeldResource, outcome string) {
	const shown = 50 // lines whose columns are aligned to each other
	fmt.Fprintf(t.writer, "%s\t%s\t%s\t%s\t%s\t%s\n", h.Kind, orDash(h.Namespace), printable(h.Name),
		strings.Join(h.Finalizers, ","), orDash(strings.Join(h.Others, ",")), printable(outcome))
	if t.rows++; t.rows%shown == 0 {
		_ = t.writer.Flush() // close tells
	}
}

func (t *releaseTable) close() error {
	if err := t.writer.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return printable(text)
}

// printable keeps what the cluster holds from breaking lines or steering a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}
