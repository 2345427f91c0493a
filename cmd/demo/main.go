// Command demo shows Chartbook at work on a throw-away cluster: it runs the operator over the shipped watches.yaml,
// applies the samples, changes things, and tells what became of it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/chartbook-operator/chartbook/cmd/internal/table"
)

// Exit codes.
const (
	exitFailed = 1 // something did not work, or the demo was interrupted
	exitUsage  = 2 // wrong usage; nothing was tried
)

func main() { os.Exit(execute(os.Args[1:])) }

// execute runs one command line and returns the exit code.
func execute(args []string) int {
	// What client libraries log about a cluster that goes away would end up in the middle of the table.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	// Whoever stops reading the output does not stop the demo halfway, with everything left behind.
	signal.Ignore(syscall.SIGPIPE)

	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	work, patience := interrupts(context.Background(), signals)

	root := newRootCommand(patience)
	root.SetArgs(args)
	err := root.ExecuteContext(work)
	if err == nil {
		return 0
	}
	fmt.Fprintln(root.ErrOrStderr(), "demo: "+table.Printable(strings.ReplaceAll(err.Error(), "\n", "; ")))
	if _, usage := errors.AsType[*usageError](err); usage {
		return exitUsage
	}
	return exitFailed
}

// errInterrupted is why the work ends at the first signal.
var errInterrupted = errors.New("interrupted")

// interrupts returns a context that the first signal ends, and one that the second one ends: the first means to stop
// and clean up, the second not to wait for the cleaning.
func interrupts(parent context.Context, signals <-chan os.Signal) (work, patience context.Context) {
	work, endWork := context.WithCancelCause(parent)
	patience, endPatience := context.WithCancelCause(parent)
	go func() {
		for _, end := range []context.CancelCauseFunc{endWork, endPatience} {
			select {
			case <-signals:
				end(errInterrupted)
			case <-parent.Done():
			}
		}
	}()
	return work, patience
}
