package component

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
)

// runKwok gives kwok a command line of its own, because it reads its global flags from os.Args.
func runKwok(args []string) error {
	// Kubernetes registers a global flag named version, which cobra would take for kwok's own.
	pflag.CommandLine = pflag.NewFlagSet(plan.Kwok, pflag.ContinueOnError)
	os.Args = append([]string{plan.Kwok}, args...)
	global := pflag.NewFlagSet("global", pflag.ContinueOnError)
	global.ParseErrorsAllowlist.UnknownFlags = true
	global.Usage = func() {}
	ctx, _ := log.InitFlags(signals.SetupSignalContext(), global)
	ctx, err := config.InitFlags(ctx, global)
	if err != nil {
		return fmt.Errorf("cannot load the stages of kwok: %w", err)
	}
	command := cmd.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(global)
	return command.ExecuteContext(ctx)
}
