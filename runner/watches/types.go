package watches

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Watch is one entry of a watches file with its defaults applied and its paths resolved.
//
// Exactly one of Playbook, Role and Chart is set.
type Watch struct {
	// GVK is the kind of resource that is watched. Group is empty for the core group.
	GVK schema.GroupVersionKind
	// Playbook is the absolute path of a playbook.
	Playbook string
	// Role is the absolute path of a role's directory.
	Role string
	// RoleName is the name that Ansible knows the role by: that of its directory, or for a role of a collection the
	// fully qualified one.
	RoleName string
	// Chart is the absolute path of a chart's directory or archive, or the address of a chart in a registry, like
	// oci://registry.example.com/charts/web@sha256:...
	Chart string
	// Vars are extra variables for every run. They win over the resource's spec; Ansible evaluates Jinja in them.
	// Values are nil, bool, int64, float64, string, []any and map[string]any; an integer that an int64 cannot hold
	// is a json.Number, which keeps its digits.
	Vars map[string]any
	// MaxRunnerArtifacts is how many runs' artifacts are kept per resource. Default 20; negative keeps all.
	MaxRunnerArtifacts int
	// ReconcilePeriod is how long after a good run the next one follows. Nil means the default of the command line,
	// zero that there is no periodic run.
	ReconcilePeriod *time.Duration
	// ManageStatus says whether status is written. Default true.
	ManageStatus bool
	// WatchDependentResources says whether changes of children wake their owner. Default true.
	WatchDependentResources bool
	// WatchClusterScopedResources extends that to cluster-scoped children. Default false, for a chart true.
	WatchClusterScopedResources bool
	// SnakeCaseParameters says whether spec keys are turned to snake_case for Ansible. Default true.
	SnakeCaseParameters bool
	// WatchAnnotationsChanges says whether a change of annotations wakes the resource. Default false.
	WatchAnnotationsChanges bool
	// MarkUnsafe keeps Ansible from evaluating Jinja in values of the spec. Default false.
	MarkUnsafe bool
	// AllowReservedVariables lets a spec set variables whose names begin with ansible_. Default false.
	AllowReservedVariables bool
	// Blacklist are kinds of children that are owned but not watched.
	Blacklist []schema.GroupVersionKind
	// Selector chooses the resources by label. The empty selector chooses all.
	Selector metav1.LabelSelector
	// Finalizer runs when a resource is deleted. Nil for none; a chart always has Helm's own.
	Finalizer *Finalizer
	// OverrideValues are laid over a chart's values, in the order of the file.
	OverrideValues []OverrideValue
	// DryRunOption is read for compatibility; lookup always sees the cluster.
	DryRunOption string
	// MaxConcurrentReconciles bounds the runs of this kind at one time. Zero means the default of the command line.
	MaxConcurrentReconciles int
	// AnsibleVerbosity is the number of v's for ansible-playbook. Nil means the default of the command line.
	AnsibleVerbosity *int
	// Timeout is the deadline of one run. Nil means the default of the command line, zero none.
	Timeout *time.Duration
	// Retry is how failed runs are repeated.
	Retry Retry
	// Resync is what the end of a period and a start of the operator do. Default [ResyncAlways].
	Resync Resync
	// FullResyncPeriod is how long after a good run the next one follows in any case, with [ResyncChanged]. Nil or zero
	// means never.
	FullResyncPeriod *time.Duration
	// Schedules are times at which resources are run.
	Schedules []Schedule
	// GatherFacts says which facts a role's play gathers. Nil means all, or none where the environment variable
	// ANSIBLE_GATHERING is "explicit".
	GatherFacts *Facts `json:",omitzero"`
	// Executor is how playbooks are run. Empty means the default of the command line.
	Executor Executor
	// MaxHistory is how many revisions of a release are kept. Default 10; zero keeps all.
	MaxHistory int
	// Wait says that a chart's resource is ready only when the objects of its release are. Default false.
	Wait bool `json:",omitempty"`
	// GenerateOnce keeps what a chart's templates make up from one revision to the next. Default false.
	GenerateOnce bool `json:",omitempty"`
	// Upgrade is how a release is upgraded.
	Upgrade Upgrade `json:",omitzero"`
	// Drift is what happens about changed objects of a release. Empty means [DriftCorrect].
	Drift Drift `json:",omitempty"`
	// CRDs is what becomes of a chart's CRDs. Empty means [CRDsCreate].
	CRDs CRDs `json:",omitzero"`
	// Adopt takes over objects that exist already and belong to nobody. Default false.
	Adopt bool `json:",omitzero"`
	// ReleaseNamespace is where releases live. Zero means the resource's own namespace.
	ReleaseNamespace Template `json:",omitzero"`
	// ChartPullSecret is the Secret that the chart's registry wants, of type kubernetes.io/dockerconfigjson. Nil for
	// none.
	ChartPullSecret *ObjectName `json:",omitzero"`
	// Trigger says which changes wake a resource. The zero value leaves that to the keys above.
	Trigger Trigger `json:",omitzero"`
	// Related are objects that resources refer to.
	Related []Related
	// VarsFrom are variables from Secrets and ConfigMaps, for a playbook or role.
	VarsFrom []Source
	// ValuesFrom are values from Secrets and ConfigMaps, for a chart; the spec wins over them.
	ValuesFrom []Source
	// VaultPassword is what ansible-playbook decrypts with. Nil for none.
	VaultPassword *SecretKey
	// Env is added to the environment of ansible-playbook.
	Env map[string]string
	// Siblings are the watches of the same kind, whose selectors exclude this one's.
	Siblings []Sibling `json:"-"`
	// Position is where the entry begins.
	Position Position
}

// Finalizer is what runs when a resource is deleted.
type Finalizer struct {
	// Name is put on resources, like example.com/cleanup.
	Name string
	// Playbook and Role are absolute paths. With both empty the watch's own content runs, with Vars.
	Playbook string
	Role     string
	RoleName string
	// Vars are extra variables for the cleaning run; they win over those of the watch.
	Vars map[string]any
}

// OverrideValue is one assignment in the syntax of Helm's --set, environment and template already expanded.
type OverrideValue struct {
	Key   string // path, like image.tag or list[0].name
	Value string // text after expansion
	// String says that the value stays a string, as with --set-string: it was quoted in the file and holds no template,
	// or is tagged !!str.
	String bool
}

// Executor is how playbooks are run.
type Executor string

// The executors.
const (
	ExecutorWarm   Executor = "warm"   // a fork of a process that has ansible-core imported already, where that can be had
	ExecutorDirect Executor = "direct" // a plain ansible-playbook process per run
	ExecutorRunner Executor = "runner" // an ansible-runner process per run
)

// CRDs is what an install or upgrade does about the definitions in a chart's crds directories.
type CRDs string

// What can become of CRDs. They are never deleted.
const (
	CRDsSkip    CRDs = "Skip"    // nothing
	CRDsCreate  CRDs = "Create"  // those that are missing are made
	CRDsReplace CRDs = "Replace" // they are made, or brought to what the chart has
)

// Sibling is another watch of the same kind.
type Sibling struct {
	Selector metav1.LabelSelector
	Earlier  bool // it comes before in the file
}

// ObjectName names an object.
type ObjectName struct {
	Name string
	// Namespace of the object. Empty means that of the operator.
	Namespace string
}

// Position is a place in a watches file.
type Position struct {
	File   string // as given by the caller
	Line   int    // from 1; zero if unknown
	Column int    // from 1; zero if unknown
}

// String returns file:line:column, as far as known.
func (p Position) String() string {
	s := p.File
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
		if p.Column > 0 {
			s += ":" + strconv.Itoa(p.Column)
		}
	}
	return s
}
