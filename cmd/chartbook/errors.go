package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// errReported marks an error whose text the user has seen already.
var errReported = errors.New("already reported")

// usageError is wrong usage or invalid input: nothing was tried.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// noArgs refuses positional arguments with a hint at the help text.
func noArgs(cmd *cobra.Command, args []string) error { return maxArgs(0)(cmd, args) }

// maxArgs refuses more than n positional arguments.
func maxArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("unexpected argument %q; %s", args[n], seeHelp(cmd))
		}
		return nil
	}
}
