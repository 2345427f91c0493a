package runner

import (
	"runtime"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/chartbook-operator/chartbook/runner/internal/budget"
)

// Tool is whose defaults apply.
type Tool string

// The tools whose defaults are known.
const (
	Chartbook       Tool = "chartbook"
	AnsibleOperator Tool = "ansible-operator" // Operator SDK's, which chartbook replaces
	HelmOperator    Tool = "helm-operator"    // Operator SDK's, which chartbook replaces
)

// Options are the settings of an operator. [DefaultOptions] fills them; the flags of `chartbook run` have the same
// names.
type Options struct {
	// WatchesFile is the path of watches.yaml.
	WatchesFile string
	// Namespaces to watch; empty means all.
	Namespaces []string
	// RESTConfig says how to reach the API server.
	RESTConfig *rest.Config
	// Log receives the log.
	Log logr.Logger
	// Registerer takes the operator's own metrics. Nil means the registry that the metrics server shows; a process
	// that runs several operators gives each its own.
	Registerer prometheus.Registerer
	// Version and Commit are shown in metrics.
	Version, Commit string

	// InjectOwnerRef says whether what playbooks create is owned by the resource. Default true.
	InjectOwnerRef bool
	// ReconcilePeriod is how long after a good run the next one follows where neither watches.yaml nor the
	// resource says otherwise. Zero means no periodic runs, nil the old tools' defaults: 10 h for playbooks and
	// roles, 1 min for charts.
	ReconcilePeriod *time.Duration
	// RunTimeout is the deadline of a run where watches.yaml gives none; zero means none.
	RunTimeout time.Duration
	// MaxConcurrentReconciles bounds the runs of one kind at one time; less than 1 is taken for 1. Default: the number
	// of CPUs.
	MaxConcurrentReconciles int
	// MaxConcurrentRuns bounds the runs of all kinds together. Zero: as many as the CPUs and the memory limit of the
	// container bear, and each kind may have one nevertheless.
	MaxConcurrentRuns int
	// GracefulShutdownTimeout is how long running plays and releases may go on after the process was asked to end.
	// Negative: as long as they need. Default 30 s.
	GracefulShutdownTimeout time.Duration
	// SuppressOverrideValues keeps the values of overrideValues out of events.
	SuppressOverrideValues bool
	// ChartCache is a directory for charts of registries. Empty means one below the system's temporary directory.
	ChartCache string
	// StatusManifest writes the rendered manifest, with all Secrets in it, to status.deployedRelease.
	StatusManifest bool

	Ansible        AnsibleOptions
	LeaderElection LeaderElectionOptions
	Metrics        MetricsOptions
	// HealthProbeAddress serves /healthz and /readyz; "0" switches it off.
	HealthProbeAddress string
	// EnableHTTP2 allows HTTP/2 for the metrics server. Default false.
	EnableHTTP2 bool
}

// AnsibleOptions are the settings for playbooks and roles.
type AnsibleOptions struct {
	Verbosity         int    // number of v's for ansible-playbook, 0 to 7; others are taken for the nearest. Default 2
	RolesPath         string // searched for roles before what the environment says
	CollectionsPath   string // searched for collections before what the environment says
	Args              string // further arguments for every ansible-playbook
	Executor          string // warm, direct or runner, where watches.yaml does not say. Default warm
	DebugLogs         bool   // log all that playbooks print
	LogEvents         string // nothing, tasks or everything. Default tasks
	ProxyPort         int    // port of the API endpoint for playbooks; zero chooses a free one
	ProxySidecarPort  int    // port on loopback of an API endpoint for everyone, by plain HTTP; zero for none
	ArtifactsMaxBytes int64  // disk budget of all artifacts and records of runs, charts' too. Default 256 MiB, zero keeps none
	PrivateDir        string // where runs, charts' too, keep their files; empty means a directory below the system's temporary one
}

// LeaderElectionOptions are the settings for several replicas.
type LeaderElectionOptions struct {
	Enabled       bool
	ID            string        // name of the Lease; required when enabled
	Namespace     string        // of the Lease; empty means the pod's own, and is an error outside of one
	LeaseDuration time.Duration // default 15 s; longer than RenewDeadline
	RenewDeadline time.Duration // default 10 s; longer than 2.4 s
}

// MetricsOptions are the settings of the metrics server.
type MetricsOptions struct {
	Address     string // "0" switches it off
	Secure      bool   // serve HTTPS
	RequireRBAC bool   // ask the API server whether the client may read metrics; needs Secure
	UserAddress string // of loopback, where playbooks report metrics to. Default 127.0.0.1:5050, "0" switches it off
}

// Tool defaults that differ.
const (
	ansiblePeriod = 10 * time.Hour
	helmPeriod    = time.Minute
)

// DefaultOptions returns the defaults of a tool. Those of chartbook itself are safe ones: metrics are served by
// HTTPS to those who may read them, and a run ends after two hours at the latest.
func DefaultOptions(tool Tool) Options {
	o := Options{
		WatchesFile:             "./watches.yaml",
		InjectOwnerRef:          true,
		MaxConcurrentReconciles: runtime.GOMAXPROCS(0),
		GracefulShutdownTimeout: 30 * time.Second,
		HealthProbeAddress:      ":6789",
		Metrics:                 MetricsOptions{Address: ":8443", UserAddress: "127.0.0.1:5050"},
		LeaderElection:          LeaderElectionOptions{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second},
		Ansible:                 AnsibleOptions{Verbosity: 2, Executor: "warm", LogEvents: "tasks", ArtifactsMaxBytes: 256 << 20},
		Log:                     logr.Discard(),
	}
	switch tool {
	case AnsibleOperator:
		o.ReconcilePeriod = new(ansiblePeriod)
	case HelmOperator:
		o.ReconcilePeriod = new(helmPeriod)
		o.Metrics.Address = ":8080"
		o.HealthProbeAddress = ":8081"
	default:
		o.Metrics.Secure = true
		o.Metrics.RequireRBAC = true
		o.RunTimeout = 2 * time.Hour
	}
	return o
}

// budget is what MaxConcurrentRuns says, or its default. A number that someone chose is kept strictly.
func (o *Options) budget() *budget.Budget {
	if o.MaxConcurrentRuns > 0 {
		return budget.New(o.MaxConcurrentRuns, clock.RealClock{})
	}
	return budget.New(budget.Default(runtime.GOMAXPROCS(0), budget.MemoryLimit()), clock.RealClock{}, budget.Reserve)
}
