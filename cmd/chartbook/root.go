package main

import (
	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/runner"
)

// toolNamed returns the tool that a program's name stands for: images that replace an old operator call us by the
// old name through a symbolic link.
func toolNamed(program string) runner.Tool {
	switch tool := runner.Tool(program); tool {
	case runner.AnsibleOperator, runner.HelmOperator, runner.Chartbook:
		return tool
	}
	return runner.Chartbook
}

func newRootCommand(tool runner.Tool) *cobra.Command {
	root := &cobra.Command{
		Use:   string(tool),
		Short: "Run Ansible playbooks, roles and Helm charts as a Kubernetes operator",
		Long: `Chartbook turns Ansible playbooks, roles and Helm charts into Kubernetes operators.

watches.yaml maps each kind of resource to a playbook, a role or a chart. What a
resource's spec says becomes extra vars or values; what the run says becomes status,
events and metrics.`,
		Example: `  # check watches.yaml and what it refers to
  chartbook validate

  # run the operator against the cluster of the current kubeconfig
  chartbook run --watches-file ./watches.yaml`,
		Args:          knownCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          showHelp,
	}
	root.Version = versionLine(tool)
	root.SetVersionTemplate("{{.Version}}\n")
	root.InitDefaultVersionFlag() // for the help text of `chartbook help`, too
	root.SetFlagErrorFunc(unknownFlag)
	root.SetHelpCommand(newHelpCommand())
	root.AddCommand(newRunCommand(tool), newValidateCommand(), newRenderCommand(), newExecCommand(), newRunsCommand(), newReleaseFinalizersCommand(), newVersionCommand(tool))
	addCompletion(root)
	return root
}
