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
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s version: %q, commit: %q, kubernetes version: %q, helm version: %q, go version: %q, GOOS: %q, GOARCH: %q\n",
				tool, version, commit, moduleVersion("k8s.io/client-go"), moduleVersion("helm.sh/helm/v3"),
				runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
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
