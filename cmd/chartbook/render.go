package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner"
)

func newRenderCommand() *cobra.Command {
	f := &benchFlags{options: runner.DefaultOptions(runner.Chartbook)}
	var o runner.RenderOptions
	offline := false
	cmd := &cobra.Command{
		Use:   "render -f FILE",
		Short: "Show what a run of a resource would get and do",
		Long: `Show what a run of a resource would get and do, without doing it. The resource is read
from a file; it need not be in the cluster.

  -o vars        extra variables of the playbook or role (its default)
  -o values      what the chart gets as values, with its defaults
  -o manifests   what the chart renders to, as 'helm template' prints it (its default)
  -o plan        install, upgrade, repair or nothing, why, and which objects
  -o diff        how the objects of the release would change

What comes from Secrets, and what Secrets of a chart hold, is shown as [redacted]
unless --show-secrets is set.

vars and values ask the cluster only if the watch refers to other objects. manifests uses
the cluster's version and kinds, and 'lookup' sees its objects; --offline does without,
as 'helm template' does. plan and diff need the cluster.`,
		Example: `  chartbook render -f sample.yaml
  chartbook render -f sample.yaml -o diff
  kubectl get microservice web -o yaml | chartbook render -f - -o plan`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.render(cmd, o, offline) },
	}
	f.bind(cmd.Flags())
	cmd.Flags().StringVarP(&o.Output, "output", "o", "", "what to show: "+strings.Join(runner.Outputs, ", "))
	cmd.Flags().BoolVar(&offline, "offline", false, "do without a cluster")
	cmd.Flags().BoolVar(&o.ShowSecrets, "show-secrets", false, "show what else is replaced by [redacted]")
	return cmd
}

func (f *benchFlags) render(cmd *cobra.Command, o runner.RenderOptions, offline bool) error {
	if o.Output != "" && !slices.Contains(runner.Outputs, o.Output) {
		return usagef("-o is %q; use %s", o.Output, strings.Join(runner.Outputs, ", "))
	}
	resources, err := f.resources(cmd)
	if err != nil {
		return err
	}
	// A look at the file tells whether a cluster is needed at all.
	alone, err := f.open(true)
	if err != nil {
		return err
	}
	bench := alone
	for _, obj := range resources {
		output, needs, err := alone.Output(obj, o.Output)
		if err != nil {
			return invalid(err)
		}
		if needs && !offline && bench == alone {
			if bench, err = f.open(false); err != nil {
				return fmt.Errorf("%w; --offline does without a cluster where that is possible", err)
			}
		}
		options := o
		options.Output, options.Namespace = output, f.namespace
		if err := printRendered(cmd, bench, obj, options, len(resources) > 1); err != nil {
			return err
		}
	}
	return nil
}

// printRendered prints what a run of obj would get or do, if need be under its name.
func printRendered(cmd *cobra.Command, bench *runner.Workbench, obj *unstructured.Unstructured, o runner.RenderOptions, named bool) error {
	text, err := bench.Render(cmd.Context(), obj, o)
	if err != nil {
		return invalid(err)
	}
	if named {
		fmt.Fprintf(cmd.OutOrStdout(), "# %s %s\n", obj.GetKind(), obj.GetName())
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}
