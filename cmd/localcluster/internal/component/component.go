// Package component runs one part of a Kubernetes control plane in this process, as the supervisor asks.
package component

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	_ "time/tzdata" // CronJobs name time zones, and the machine may have no database of them

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of client-go, as in the original binaries
	_ "k8s.io/component-base/metrics/prometheus/version"  // the metric kubernetes_build_info
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
)

// LifeFD is the open file that ends with the supervisor.
const LifeFD = 3

// Main runs the component and returns its exit code.
func Main(name string, args []string) int {
	go dieWith(os.NewFile(LifeFD, "supervisor"))
	hurry()
	// Files with keys and tokens must not depend on the umask of whoever called.
	syscall.Umask(0o077)
	switch name {
	case plan.Etcd:
		return report(runEtcd(args))
	case plan.APIServer:
		return kubernetes(apiserver.NewAPIServerCommand(), args)
	case plan.ControllerManager:
		return kubernetes(controllermanager.NewControllerManagerCommand(), args)
	case plan.Scheduler:
		return kubernetes(scheduler.NewSchedulerCommand(), args)
	case plan.Kwok:
		return report(runKwok(args))
	}
	return report(fmt.Errorf("unknown component %q", name))
}

func kubernetes(command *cobra.Command, args []string) int {
	command.SetArgs(args)
	return cli.Run(command)
}

func report(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "Error:", err)
	return 1
}

// How the garbage collector is set at first, later, and from when on.
const (
	hurriedGC = 400
	steadyGC  = 100
	startTime = 20 * time.Second
)

// hurry spends memory instead of time during the start, when nearly all that is allocated stays.
func hurry() {
	debug.SetGCPercent(hurriedGC)
	time.AfterFunc(startTime, func() {
		debug.SetGCPercent(steadyGC)
		debug.FreeOSMemory()
	})
}

// dieWith ends this process when the supervisor is no more. Only the supervisor holds the other end of the pipe, and
// the kernel closes it however the supervisor ends. No clean-up: the data of the cluster is thrown away anyway.
func dieWith(supervisor *os.File) {
	_, _ = supervisor.Read(make([]byte, 1))
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}
