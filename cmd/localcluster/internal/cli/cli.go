// Package cli is the command line of localcluster.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a command line that makes no sense, as opposed to one that did not work out.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// Main runs one command and returns the exit code of the process.
func Main(args []string, stdout, stderr io.Writer) int {
	// Kubernetes registers global flags that have no place on this command line.
	pflag.CommandLine = pflag.NewFlagSet("localcluster", pflag.ContinueOnError)
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err == nil {
		return exitDone
	}
	fmt.Fprintln(stderr, "localcluster: "+strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " "))
	if usage := (usageError{}); errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "localcluster",
		Short: "A throw-away Kubernetes control plane on this machine",
		Long: `Localcluster runs etcd, kube-apiserver, kube-controller-manager, kube-scheduler and a fake node on loopback.
Pods become Ready and Jobs complete without any container being run. Everything lives in one directory and
is gone, process and file, after "localcluster down".`,
		Example: `  localcluster up --dir .cluster
  kubectl --kubeconfig .cluster/kubeconfig get nodes
  localcluster down --dir .cluster`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q; see localcluster --help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			_ = cmd.Help()
			return usagef("a command is missing: up, down, status, run, restart or version")
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(newUp(), newDown(), newStatus(), newRun(), newRestart(), newVersion(), newSupervise())
	return root
}

// dirFlag adds --dir, which every command needs, and gives the directory once the flags are read.
func dirFlag(cmd *cobra.Command) func() (layout.Dir, error) {
	dir := cmd.Flags().String("dir", "", "directory of the cluster (required)")
	_ = cmd.MarkFlagDirname("dir")
	return func() (layout.Dir, error) {
		if *dir == "" {
			return "", usagef("--dir is missing: name the directory of the cluster")
		}
		return layout.At(*dir)
	}
}

// noArgs refuses arguments as wrong usage.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, got %q; see %s --help", cmd.Name(), args[0], cmd.CommandPath())
	}
	return nil
}
