// Command bench measures what a run costs in each way to run playbooks: the time from the creation of a resource until
// its play has succeeded, CPU, memory, and requests to the API server.
//
// All ways serve the same watches file and playbooks on the same control plane, each with an operator and a namespace of its
// own, and take turns, so that what else the machine does hits them alike. CPU is that of the operator and all processes
// below it, those that have ended included, as /proc tells when all is quiet; memory is the sum of their proportional set
// sizes, looked at all the time.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	klog.SetLogger(logr.Discard()) // what libraries log about a cluster that goes away is of no interest
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // the deferred call ends with the process, too
	}
}
