// Command chartbook runs Ansible playbooks, roles and Helm charts as a Kubernetes operator.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Exit codes of every subcommand.
const (
	exitFailed = 1 // it was tried and did not work
	exitUsage  = 2 // wrong usage or invalid input; nothing was tried
)

func main() { os.Exit(execute(os.Args)) }

// execute runs the command line args, whose first element is the program's name, and returns the exit code.
func execute(args []string) int {
	tool := toolNamed(filepath.Base(args[0]))
	root := newRootCommand(tool)
	root.SetArgs(args[1:])
	err := root.Execute()
	if err == nil {
		return 0
	}
	if !errors.Is(err, errReported) {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(root.ErrOrStderr(), "%s: %s\n", root.Name(), line)
		}
	}
	if _, usage := errors.AsType[*usageError](err); usage {
		return exitUsage
	}
	return exitFailed
}
