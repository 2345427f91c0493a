package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versions are the modules whose versions make a cluster what it is.
var versions = []struct{ name, module string }{
	{"Kubernetes", "k8s.io/kubernetes"},
	{"etcd", "go.etcd.io/etcd/server/v3"},
	{"kwok", "sigs.k8s.io/kwok"},
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the versions of what a cluster consists of",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			for _, v := range versions {
				fmt.Fprintf(cmd.OutOrStdout(), "%-10s  %s\n", v.name, moduleVersion(info, v.module))
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%-10s  %s\n", "Go", runtime.Version())
			return nil
		},
	}
}

// moduleVersion reads the version that the linker recorded for a module.
func moduleVersion(info *debug.BuildInfo, path string) string {
	if info != nil {
		for _, m := range info.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return "unknown"
}
