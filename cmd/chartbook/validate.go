package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/runner"
)

func newValidateCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check watches.yaml and what it refers to",
		Long: `Check a watches file (./watches.yaml without an argument) and what it refers to: keys,
paths, roles, charts and the syntax of playbooks. Nothing is run and no cluster is asked.

All findings are printed, one to a line: error or warning, FILE:LINE:COLUMN, what is wrong
and what to do. The exit code is 2 if there is an error.`,
		Example: `  chartbook validate
  chartbook validate --strict deploy/watches.yaml`,
		Args: maxArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := "./watches.yaml"
			if len(args) == 1 {
				file = args[0]
			}
			return validate(cmd, file, strict)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "make errors of warnings about unknown, repeated and ineffective keys")
	return cmd
}

func validate(cmd *cobra.Command, file string, strict bool) error {
	report := runner.Validate(cmd.Context(), runner.ValidateOptions{WatchesFile: file, Strict: strict})
	for _, warning := range report.Warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", warning)
	}
	for _, problem := range report.Problems {
		fmt.Fprintf(cmd.ErrOrStderr(), "error: %s\n", problem)
	}
	if len(report.Problems) > 0 {
		return &usageError{errReported}
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s\n", file, count(report.Watches, "watch", "watches"),
		count(len(report.Warnings), "warning", "warnings"))
	return err
}

func count(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
