package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// maxSuggestions bounds how many names are offered for one that does not exist.
const maxSuggestions = 3

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// newHelpCommand makes the command help, which unlike cobra's own fails for a command that does not exist.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil {
				return &usageError{err}
			}
			if err := knownCommand(found, rest); err != nil {
				return err
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// addCompletion adds cobra's command completion, which by itself takes any argument for a call for help.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args, cmd.RunE = knownCommand, showHelp
			for _, shell := range cmd.Commands() {
				shell.Args = noArgs
			}
		}
	}
}

// knownCommand refuses what is left of a command line where a subcommand should have been.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usagef("unknown command %q; %s", args[0], hint(cmd, args[0], "", names))
}

// unknownFlag makes usage errors of what is wrong with flags.
func unknownFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usagef("%w; %s", err, seeHelp(cmd))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return usagef("%w; %s", err, hint(cmd, unknown.GetSpecifiedName(), "--", names))
}

// hint offers the names like the one that was typed, or where to look if there are none.
func hint(cmd *cobra.Command, typed, prefix string, names []string) string {
	// Cobra knows which names are alike, of commands only.
	commands := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		commands.AddCommand(&cobra.Command{Use: name, RunE: showHelp})
	}
	alike := commands.SuggestionsFor(typed)
	for i, name := range alike {
		alike[i] = fmt.Sprintf("%q", prefix+name)
	}
	if len(alike) == 0 {
		return seeHelp(cmd)
	}
	return "did you mean " + strings.Join(alike[:min(len(alike), maxSuggestions)], " or ") + "?"
}

func seeHelp(cmd *cobra.Command) string { return fmt.Sprintf("see '%s --help'", cmd.CommandPath()) }
