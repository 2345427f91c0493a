package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Result is what a run came to. It holds no API object; the status package turns it into conditions.
type Result struct {
	Outcome Outcome
	// Reason is one CamelCase word for the outcome, from the content's author or from the list in this
	// package; empty when the outcome says it all.
	Reason string
	// Message is the cause in one line or a few: task name, file:line, the module's or Helm's own words. It holds
	// no secret. Status shortens it.
	Message string
	// RetryAfter asks for the next run after this long; zero leaves that to the controller.
	RetryAfter time.Duration
	// Failures are the tasks or objects that failed, in order.
	Failures []Failure
	// Outputs go to status.outputs: what the playbook said by set_stats. Nil leaves the old outputs alone.
	Outputs map[string]any
	// Stats counts a play's tasks; nil for charts and when the play did not get that far.
	Stats *Stats
	// Release describes the Helm release after the run; nil for playbooks and when there is none.
	Release *Release
	// Drift names what differs from a chart's release where differences are only looked for: empty for nothing, nil where
	// nobody looks.
	Drift []string
	// Children are the objects that the run is known to own (a chart's manifest); playbooks report theirs
	// through the proxy instead.
	Children []Child
	// Writes are the run's own changes of objects that the engine made itself, so that none of them wakes the
	// resource again.
	Writes []Write
	// Denials are requests that the API server refused with 403.
	Denials []Denial
	// APIRequests counts requests that the engine itself sent to the API server.
	APIRequests int
	// Processes counts child processes that the engine itself started.
	Processes int
	// Executor is how a playbook was run: warm, direct or runner. Empty for charts.
	Executor string
	// Fallback is why that is not the executor that was asked for, one word like starting; empty if it is.
	Fallback string
	// Modules counts the modules that a warm run executed: under "forked" those that ran in a fork of it, under a word for the
	// reason those that ran as a process of their own. Nil if that is not known.
	Modules map[string]int
	// MaxRSSBytes is the largest resident memory of one of these processes; zero if that is not known.
	MaxRSSBytes int64
	Started     time.Time
	Finished    time.Time
}

// Outcome classifies a run.
type Outcome string

// The outcomes of a run.
const (
	Succeeded Outcome = "Succeeded" // done, nothing had to be changed
	Changed   Outcome = "Changed"   // done, something was changed
	Waiting   Outcome = "Waiting"   // not there yet and not a failure; see Reason and RetryAfter
	Transient Outcome = "Transient" // failed; a later try may do better
	Permanent Outcome = "Permanent" // failed; it stays so until the resource or the content changes
	Cancelled Outcome = "Cancelled" // ended from outside: shutdown or request
	TimedOut  Outcome = "TimedOut"  // ended by its deadline
)

// OK reports whether the run did what it was for.
func (o Outcome) OK() bool { return o == Succeeded || o == Changed }

// Reasons that engines give themselves. Status and events use the same words.
const (
	ReasonTaskFailed       = "TaskFailed"           // a task failed and nothing rescued it
	ReasonUnreachable      = "HostUnreachable"      // a host of the inventory could not be reached
	ReasonSyntaxError      = "SyntaxError"          // the playbook does not parse
	ReasonPlaybookError    = "PlaybookError"        // ansible-playbook ended without saying how the play went
	ReasonDeadlineExceeded = "DeadlineExceeded"     // the run's timeout is over
	ReasonCancelled        = "Cancelled"            // ended from outside
	ReasonKilled           = "Killed"               // a signal that is not ours ended the run
	ReasonForbidden        = "Forbidden"            // the API server refused a request
	ReasonInvalidChart     = "InvalidChart"         // the chart does not load or render
	ReasonInvalidValues    = "InvalidValues"        // the values do not fit the chart's schema
	ReasonReleaseName      = "InvalidName"          // the name cannot be a release name
	ReasonReleaseTaken     = "ReleaseTaken"         // another chart owns the release name
	ReasonTerminating      = "NamespaceTerminating" // a namespace is being deleted
	ReasonNotReady         = "NotReady"             // objects of the release are not ready yet
	ReasonObjectFailed     = "ObjectFailed"         // an object of the release has failed
	ReasonReleaseBusy      = "ReleaseBusy"          // another Helm is at work on the release
	ReasonUninstalling     = "Uninstalling"         // the release is uninstalled and its objects are on their way out
	ReasonChartUnavailable = "ChartUnavailable"     // the chart could not be fetched from its registry
	ReasonStoredVersion    = "StoredVersion"        // the chart's CRD lacks a version that objects are stored in
	ReasonInstallFailed    = "InstallError"
	ReasonUpgradeFailed    = "UpgradeError"
	ReasonUninstallFailed  = "UninstallError"
	ReasonReconcileFailed  = "ReconcileError" // drift could not be repaired
)

// Failure is one task or object that failed.
type Failure struct {
	Name    string // task name, or kind/name of an object
	Host    string // inventory host; empty for charts
	File    string // file that holds the task; empty if unknown
	Line    int    // line in File, from 1; zero if unknown
	Message string // what went wrong, redacted where the task had no_log
}

// Stats counts the tasks of a play for the host localhost, as the old status field ansibleResult does.
type Stats struct {
	OK        int
	Changed   int
	Skipped   int
	Failures  int
	Completed time.Time
}

// Release describes a Helm release.
type Release struct {
	Name     string
	Version  int    // revision number
	Digest   string // of the inputs that made it: chart, values, capabilities
	Manifest string // rendered manifest; reaches status only when asked for
	Notes    string
	Action   Action
}

// Action is what the Helm engine did.
type Action string

// The actions of the Helm engine.
const (
	ActionNone      Action = "none"
	ActionInstall   Action = "install"
	ActionUpgrade   Action = "upgrade"
	ActionRepair    Action = "repair" // children put back, no new revision
	ActionUninstall Action = "uninstall"
)

// Child is an object that belongs to a run's resource.
type Child struct {
	GVK       schema.GroupVersionKind
	Namespace string
	Name      string
}

// Write is a change that a run made to an object.
type Write struct {
	GVK             schema.GroupVersionKind
	Namespace       string
	Name            string
	UID             types.UID
	ResourceVersion string // after the change
	Deleted         bool
}

// Denial is a request that the API server refused with 403.
type Denial struct {
	Verb      string // RBAC verb: get, list, watch, create, update, patch, delete, deletecollection
	Group     string
	Resource  string // plural; with "/subresource" where there is one
	Namespace string
	Name      string
	Message   string // the API server's own words
}
