package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// runFlags are the flags of `run` that are not options of the runner under the same name.
type runFlags struct {
	options      runner.Options
	reconcile    time.Duration
	kubeconfig   string
	context      string
	metricsAddr  string
	enableLeader bool
	resourceLock string
	zap          zap.Options
	elsewhere    map[string]string // settings that came neither from their flag nor its default, and from where
}

// maxLogLevel is the highest level that the log can be set to; a higher one would silence it.
const maxLogLevel = 127

// periods are the default of --reconcile-period where no old tool's holds.
const periods = "10h for playbooks and roles, 1m for charts"

func newRunCommand(tool runner.Tool) *cobra.Command {
	f := &runFlags{options: runner.DefaultOptions(tool), elsewhere: map[string]string{}}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the operator",
		Long: `Run the operator: watch the kinds of watches.yaml and run their content until asked to end.

The cluster is that of --kubeconfig, else of the environment variable KUBECONFIG,
else the one that the pod runs in, else of ~/.kube/config.

Environment variables:
  WATCH_NAMESPACE   namespaces to watch, separated by commas; empty means all
  OPERATOR_NAME     name of the leader election's Lease (deprecated: use --leader-election-id)
  ANSIBLE_ROLES_PATH, ANSIBLE_COLLECTIONS_PATH, ANSIBLE_INVENTORY, ANSIBLE_GATHERING, VIRTUAL_ENV
                    as for Ansible
  ANSIBLE_DEBUG_LOGS
                    true logs all that playbooks print
  MAX_CONCURRENT_RECONCILES_<KIND>_<GROUP>, ANSIBLE_VERBOSITY_<KIND>_<GROUP>
                    per-kind settings, upper-cased, with "." as "_"`,
		Example: `  # a namespace-scoped operator on a laptop
  WATCH_NAMESPACE=dev chartbook run --metrics-bind-address=0`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.bind(cmd.Flags(), tool)
	return cmd
}

func (f *runFlags) run(cmd *cobra.Command) error {
	f.options.Log = quiet(newLog(f.zap, os.Stderr))
	adopt(f.options.Log)
	f.options.Version, f.options.Commit = version, commit
	f.warn(cmd.Flags())
	return f.told(f.operate(cmd.Flags()))
}

// operate runs the operator to its end.
func (f *runFlags) operate(flags *pflag.FlagSet) error {
	if err := f.complete(flags); err != nil {
		return &usageError{err}
	}
	f.report(flags)
	config, err := loadConfig(f.kubeconfig, f.context)
	if err != nil {
		// A wrong watches file is told first: nothing else helps before it is mended.
		if _, wrong := watches.Load(f.options.WatchesFile, watches.Options{}); wrong != nil {
			return &usageError{wrong}
		}
		return err
	}
	f.options.RESTConfig = config
	err = runner.Run(ctrl.SetupSignalHandler(), f.options)
	if _, invalid := errors.AsType[*runner.InvalidError](err); invalid {
		return &usageError{err}
	}
	return err
}

// told puts an error into the log, each line of it on its own, unless people look on: then it is told like that of any
// command.
func (f *runFlags) told(err error) error {
	if err == nil || forPeople(os.Stderr) {
		return err
	}
	log := f.options.Log.WithName(endLogger)
	for line := range strings.SplitSeq(err.Error(), "\n") {
		log.Error(errors.New(line), "Cannot run")
	}
	return fmt.Errorf("%w: %w", errReported, err)
}

// warn tells which of the flags that are set are old ones.
func (f *runFlags) warn(flags *pflag.FlagSet) {
	flags.Visit(func(flag *pflag.Flag) {
		if instead := flag.Annotations[deprecatedFlag]; len(instead) > 0 {
			f.options.Log.Info("Flag is deprecated", "flag", flag.Name, "instead", instead[0])
		}
	})
}

// complete settles what several flags or the environment say together.
func (f *runFlags) complete(flags *pflag.FlagSet) error {
	for _, pair := range [][2]string{{"metrics-addr", "metrics-bind-address"}, {"enable-leader-election", "leader-elect"}} {
		if flags.Changed(pair[0]) && flags.Changed(pair[1]) {
			return fmt.Errorf("only one of --%s and --%s may be set", pair[0], pair[1])
		}
	}
	if level, err := strconv.Atoi(flags.Lookup("zap-log-level").Value.String()); err == nil && level > maxLogLevel {
		return fmt.Errorf("--zap-log-level is %d; use debug, info, error, panic, or a number from 1 to %d", level, maxLogLevel)
	}
	f.takeOldNames(flags)
	f.takeEnvironment()
	return f.options.Validate()
}

// takeOldNames takes the values of flags that were given by their old names.
func (f *runFlags) takeOldNames(flags *pflag.FlagSet) {
	if flags.Changed("metrics-addr") {
		f.options.Metrics.Address = f.metricsAddr
		f.elsewhere["metrics-bind-address"] = f.metricsAddr + " (flag metrics-addr)"
	}
	if flags.Changed("enable-leader-election") {
		f.options.LeaderElection.Enabled = f.enableLeader
		f.elsewhere["leader-elect"] = strconv.FormatBool(f.enableLeader) + " (flag enable-leader-election)"
	}
	if flags.Changed("reconcile-period") {
		f.options.ReconcilePeriod = &f.reconcile
	} else if f.options.ReconcilePeriod == nil {
		f.elsewhere["reconcile-period"] = periods + " (default)"
	}
}

// takeEnvironment takes settings from the environment.
func (f *runFlags) takeEnvironment() {
	if name := os.Getenv("OPERATOR_NAME"); name != "" && f.options.LeaderElection.ID == "" {
		f.options.LeaderElection.ID = name
		f.elsewhere["leader-election-id"] = name + " (environment variable OPERATOR_NAME)"
	}
	if value := os.Getenv("ANSIBLE_DEBUG_LOGS"); value != "" {
		debug, err := strconv.ParseBool(value)
		if err != nil {
			f.options.Log.Info("Ignoring ANSIBLE_DEBUG_LOGS: set it to true or false", "value", value)
		}
		f.options.Ansible.DebugLogs = debug
	}
	if list, ok := os.LookupEnv("WATCH_NAMESPACE"); ok {
		f.options.Namespaces = runner.ParseNamespaces(list)
		if strings.TrimSpace(list) != "" && len(f.options.Namespaces) == 0 {
			f.options.Log.Info("Check the settings", "warning", fmt.Sprintf("WATCH_NAMESPACE is %q, which names no namespace: all are watched", list))
		}
	}
}

// report logs the effective settings and where each came from.
func (f *runFlags) report(flags *pflag.FlagSet) {
	settings := map[string]string{}
	flags.VisitAll(func(flag *pflag.Flag) {
		origin, ok := f.elsewhere[flag.Name]
		switch {
		case flag.Name == "help":
		case ok:
			settings[flag.Name] = origin
		case flag.Changed:
			settings[flag.Name] = flag.Value.String() + " (flag)"
		case flag.Annotations[deprecatedFlag] == nil && flag.DefValue != "":
			settings[flag.Name] = flag.Value.String() + " (default)"
		}
	})
	namespaces := "all"
	if len(f.options.Namespaces) > 0 {
		namespaces = fmt.Sprint(f.options.Namespaces)
	}
	f.options.Log.Info("Starting", "version", version, "commit", commit, "watchNamespaces", namespaces, "settings", settings)
}

// bind declares the flags: the union of those of both old operators, under the same names, and our own.
func (f *runFlags) bind(flags *pflag.FlagSet, tool runner.Tool) {
	o := &f.options
	flags.SortFlags = false
	flags.StringVar(&o.WatchesFile, "watches-file", o.WatchesFile, "path of watches.yaml")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "path of a kubeconfig; see above for what holds without it")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig; empty means its current one")
	f.bindRuns(flags)
	f.bindAnsible(flags)
	f.bindServers(flags, tool)
	f.bindLeaderElection(flags)
	zapFlags := flag.NewFlagSet("zap", flag.ContinueOnError)
	f.zap.TimeEncoder = zapcore.RFC3339TimeEncoder
	f.zap.BindFlags(zapFlags)
	zapFlags.Lookup("zap-time-encoding").Usage = "how times are written in the log: epoch, millis, nano, iso8601, rfc3339 or rfc3339nano (default rfc3339)"
	flags.AddGoFlagSet(zapFlags)
}

func (f *runFlags) bindRuns(flags *pflag.FlagSet) {
	o := &f.options
	if o.ReconcilePeriod != nil {
		f.reconcile = *o.ReconcilePeriod
	}
	flags.DurationVar(&f.reconcile, "reconcile-period", f.reconcile, "how long after a good run the next one follows; 0 for never")
	if o.ReconcilePeriod == nil {
		flags.Lookup("reconcile-period").DefValue = periods
	}
	flags.DurationVar(&o.RunTimeout, "run-timeout", o.RunTimeout, "deadline of a run where watches.yaml gives none; 0 for none")
	flags.IntVar(&o.MaxConcurrentReconciles, "max-concurrent-reconciles", o.MaxConcurrentReconciles, "runs of one kind at one time")
	flags.Lookup("max-concurrent-reconciles").DefValue = "number of CPUs"
	flags.IntVar(&o.MaxConcurrentRuns, "max-concurrent-runs", o.MaxConcurrentRuns, "runs of all kinds together at one time; 0 for as many as CPUs and memory bear")
	flags.DurationVar(&o.GracefulShutdownTimeout, "graceful-shutdown-timeout", o.GracefulShutdownTimeout, "how long running plays and releases may go on after the process was asked to end")
	flags.StringVar(&o.Ansible.PrivateDir, "private-dir", o.Ansible.PrivateDir, "directory that runs keep their files in, of this operator alone; empty means one below the directory for temporary files")
	flags.BoolVar(&o.InjectOwnerRef, "inject-owner-ref", o.InjectOwnerRef, "make resources the owners of what their playbooks create, and watch it")
	flags.BoolVar(&o.SuppressOverrideValues, "suppress-override-values", o.SuppressOverrideValues, "keep the values of overrideValues out of events")
	flags.StringVar(&o.ChartCache, "chart-cache", o.ChartCache, "directory for charts of registries; empty for one below the system's temporary directory")
	flags.BoolVar(&o.StatusManifest, "status-manifest", o.StatusManifest, "write rendered manifests, with all Secrets in them, to status.deployedRelease as helm-operator did")
}

func (f *runFlags) bindAnsible(flags *pflag.FlagSet) {
	o := &f.options.Ansible
	flags.IntVar(&o.Verbosity, "ansible-verbosity", o.Verbosity, "number of v's for ansible-playbook, 0 to 7")
	flags.StringVar(&o.RolesPath, "ansible-roles-path", o.RolesPath, "where to look for roles; replaces ANSIBLE_ROLES_PATH")
	flags.StringVar(&o.CollectionsPath, "ansible-collections-path", o.CollectionsPath, "where to look for collections; replaces ANSIBLE_COLLECTIONS_PATH")
	flags.StringVar(&o.Args, "ansible-args", o.Args, "further arguments for every ansible-playbook, like '--vault-password-file /path'")
	flags.StringVar(&o.Executor, "ansible-executor", o.Executor, "what runs playbooks where watches.yaml does not say: warm (forks of a process that has Ansible loaded), direct (ansible-playbook) or runner (ansible-runner)")
	flags.StringVar(&o.LogEvents, "ansible-log-events", o.LogEvents, "what to log of a play: nothing, tasks or everything")
	flags.IntVar(&o.ProxyPort, "proxy-port", o.ProxyPort, "port of the API endpoint for playbooks; 0 chooses a free one")
	flags.IntVar(&o.ProxySidecarPort, "proxy-sidecar-port", o.ProxySidecarPort, "port on loopback where whoever asks, by plain HTTP, acts with the operator's rights; 0 for none")
	flags.Int64Var(&o.ArtifactsMaxBytes, "artifacts-max-bytes", o.ArtifactsMaxBytes, "disk budget of all run artifacts in bytes; 0 keeps none")
}

func (f *runFlags) bindServers(flags *pflag.FlagSet, _ runner.Tool) {
	o := &f.options
	flags.StringVar(&o.HealthProbeAddress, "health-probe-bind-address", o.HealthProbeAddress, "address of /healthz and /readyz; 0 switches them off")
	flags.StringVar(&o.Metrics.Address, "metrics-bind-address", o.Metrics.Address, "address of /metrics; 0 switches it off")
	flags.StringVar(&o.Metrics.UserAddress, "user-metrics-bind-address", o.Metrics.UserAddress, "address on loopback where playbooks report metrics to; 0 switches it off")
	flags.StringVar(&f.metricsAddr, "metrics-addr", o.Metrics.Address, "address of /metrics")
	flags.BoolVar(&o.Metrics.Secure, "metrics-secure", o.Metrics.Secure, "serve metrics by HTTPS")
	flags.BoolVar(&o.Metrics.RequireRBAC, "metrics-require-rbac", o.Metrics.RequireRBAC, "ask the API server whether the client may read metrics; needs --metrics-secure")
	flags.BoolVar(&o.EnableHTTP2, "enable-http2", o.EnableHTTP2, "allow HTTP/2 for metrics")
	deprecate(flags, "metrics-addr", "use --metrics-bind-address")
}

func (f *runFlags) bindLeaderElection(flags *pflag.FlagSet) {
	o := &f.options.LeaderElection
	flags.BoolVar(&o.Enabled, "leader-elect", o.Enabled, "let one of several replicas work at a time")
	flags.BoolVar(&f.enableLeader, "enable-leader-election", false, "let one of several replicas work at a time")
	flags.StringVar(&o.ID, "leader-election-id", o.ID, "name of the Lease that replicas share")
	flags.StringVar(&o.Namespace, "leader-election-namespace", o.Namespace, "namespace of the Lease; empty means the pod's own")
	flags.StringVar(&f.resourceLock, "leader-elect-resource-lock", "leases", "kind of the lock; always leases")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration, "how long a leader is taken for alive without a sign")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline, "how long a leader tries to renew before it gives up")
	deprecate(flags, "enable-leader-election", "use --leader-elect")
	deprecate(flags, "leader-elect-resource-lock", "the lock is always a Lease")
}

// deprecatedFlag is the annotation of flags that are old names; its value says what to do. The warning that comes
// with pflag's own kind of deprecation would be a line of plain text in the log.
const deprecatedFlag = "chartbook.dev/deprecated"

// deprecate hides a flag and has its use told; the name is a constant of ours, so it exists.
func deprecate(flags *pflag.FlagSet, name, instead string) {
	if err := errors.Join(flags.MarkHidden(name), flags.SetAnnotation(name, deprecatedFlag, []string{instead})); err != nil {
		panic(err)
	}
}
