package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/runner"
)

// Set by the linker; see the Makefile.
var (
	version = "dev"
	commit  = "unknown"
)

func newVersionCommand(tool runner.Tool) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine(tool))
			return err
		},
	}
}

// versionLine is what the command version and the flag --version print.
func versionLine(tool runner.Tool) string {
	return fmt.Sprintf("%s version: %q, commit: %q, kubernetes version: %q, helm version: %q, go version: %q, GOOS: %q, GOARCH: %q",
		tool, version, commit, moduleVersion("k8s.io/client-go"), moduleVersion("helm.sh/helm/v3"),
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// moduleVersion returns the version of a module that is linked in.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dep := range info.Deps {
		if dep.Path == path {
			return dep.Version
		}
	}
	return "unknown"
}
