package status

import "github.com/chartbook-operator/chartbook/runner/internal/engine"

// Reasons of the conditions Ready, Reconciling and Stalled, beside those that the engine package gives.
const (
	ReasonSucceeded       = "Succeeded"
	ReasonInProgress      = "InProgress"
	ReasonWaiting         = "Waiting"
	ReasonRetrying        = "Retrying"
	ReasonRunFailed       = "RunFailed"
	ReasonEngineError     = "EngineError"
	ReasonRefused         = "Refused"
	ReasonPending         = "Pending"
	ReasonPaused          = "Paused"
	ReasonInterrupted     = "Interrupted"
	ReasonDeleting        = "Deleting"
	ReasonFinalized       = "Finalized"
	ReasonDeletionBlocked = "DeletionBlocked"
	ReasonReleased        = "Released"
	ReasonRelatedMissing  = "RelatedMissing"
)

// Reasons of the conditions that the old tools wrote.
const (
	reasonRunning             = "Running"
	reasonSuccessful          = "Successful"
	reasonFailed              = "Failed"
	reasonInstallSuccessful   = "InstallSuccessful"
	reasonUpgradeSuccessful   = "UpgradeSuccessful"
	reasonUninstallSuccessful = "UninstallSuccessful"
)

// Reasons of the condition Drifted.
const (
	reasonDriftDetected = "DriftDetected"
	reasonNoDrift       = "NoDrift"
)

// ReasonDoc explains one reason.
type ReasonDoc struct {
	Reason  string
	Meaning string // one sentence
}

// reasons is the closed list, in the order in which a reader meets them. It has those of the package input, too, which
// this one does not import. Only the author of a playbook may give a reason that is not here (the reserved stat
// "chartbook").
var reasons = []ReasonDoc{
	{ReasonSucceeded, "The last run did what the resource asks for."},
	{ReasonInProgress, "A run is in progress; the message names it and what set it off."},
	{ReasonWaiting, "The last run found that something is not there yet, and is repeated."},
	{ReasonRetrying, "The last run failed and is repeated after a while."},
	{ReasonRunFailed, "The last run failed without saying more than its message."},
	{ReasonEngineError, "A run could not be started at all; that is the operator's trouble rather than the resource's, and it is tried again."},
	{ReasonRefused, "The resource asks for something that is not run; the message says what to change."},
	{ReasonPending, "Nothing is run before something outside the resource is there."},
	{ReasonPaused, "The annotation chartbook.dev/paused holds runs back."},
	{ReasonInterrupted, "The operator was stopped during the run, which is repeated."},
	{ReasonDeleting, "The resource is being deleted and its finalizer is at work."},
	{ReasonFinalized, "The finalizer has done its work; another finalizer still holds the resource."},
	{ReasonReleased, "The resource does not match the selector any more and was cleaned up after; nothing is done for it."},
	{ReasonDeletionBlocked, "The finalizer failed for good, so the resource stays; the annotation chartbook.dev/skip-finalizer lets it go."},

	{ReasonRelatedMissing, "An object or key that the resource refers to is missing; the run comes when it is there."},
	{"InvalidReference", "A field of the resource cannot be the name of an object, or what it refers to cannot be used."},
	{"CrossNamespaceReference", "A field of the resource refers to an object in another namespace, which only the watches file may do."},

	{"VariableClash", "Two keys of the spec become one Ansible variable."},
	{"EmptyKey", "A key of the spec is empty, which can be no variable."},
	{"ReservedVariable", "A key of the spec would change how Ansible connects or runs."},
	{"TooDeep", "The spec nests deeper than Ansible can read."},
	{"InvalidSpec", "The spec is not a mapping."},

	{engine.ReasonTaskFailed, "A task of the playbook failed and nothing rescued it."},
	{engine.ReasonUnreachable, "A host of the inventory could not be reached."},
	{engine.ReasonSyntaxError, "The playbook does not parse."},
	{engine.ReasonPlaybookError, "The program ansible-playbook ended without saying how the play went."},
	{engine.ReasonDeadlineExceeded, "The run took longer than its timeout and was ended."},
	{engine.ReasonCancelled, "The run was ended from outside."},
	{engine.ReasonKilled, "The run was ended by a signal that the operator did not send, often for lack of memory."},
	{engine.ReasonForbidden, "The API server refused a request; the message names the missing permission."},
	{engine.ReasonInvalidChart, "The chart does not load or render."},
	{engine.ReasonInvalidValues, "The values do not fit the chart's schema."},
	{engine.ReasonStoredVersion, "A CRD of the chart lacks a version that objects in the cluster are stored in, so it is not replaced."},
	{engine.ReasonChartUnavailable, "The chart could not be fetched from its registry."},
	{engine.ReasonReleaseName, "The resource's name cannot be the name of a Helm release."},
	{engine.ReasonReleaseTaken, "Another chart owns the Helm release of this name."},
	{engine.ReasonReleaseBusy, "Another Helm is at work on the release; the run is repeated when it should be done."},
	{engine.ReasonTerminating, "A namespace is being deleted, so that nothing can be made in it."},
	{engine.ReasonNotReady, "Objects of the Helm release are not ready yet; the message says which and why."},
	{engine.ReasonObjectFailed, "An object of the Helm release has failed and will not become ready by itself."},
	{reasonDriftDetected, "Objects differ from the release (condition Drifted); the message says where."},
	{reasonNoDrift, "Objects are as the release has them (condition Drifted)."},
	{engine.ReasonUninstalling, "The Helm release is uninstalled and its objects are on their way out."},
	{engine.ReasonInstallFailed, "The Helm release could not be installed."},
	{engine.ReasonUpgradeFailed, "The Helm release could not be upgraded."},
	{engine.ReasonUninstallFailed, "The Helm release could not be uninstalled."},
	{engine.ReasonReconcileFailed, "The objects of the Helm release could not be compared or put back."},

	{reasonRunning, "A run is in progress (conditions of ansible-operator)."},
	{reasonSuccessful, "The last run succeeded (conditions of ansible-operator)."},
	{reasonFailed, "The last run failed (conditions of ansible-operator)."},
	{reasonInstallSuccessful, "The Helm release is in its first revision (conditions of helm-operator)."},
	{reasonUpgradeSuccessful, "The Helm release is in a later revision (conditions of helm-operator)."},
	{reasonUninstallSuccessful, "The Helm release is gone (conditions of helm-operator)."},
}

// Reasons returns the closed list of reasons.
func Reasons() []ReasonDoc { return append([]ReasonDoc(nil), reasons...) }

// onReady are the reasons that a Ready condition of ours may have.
var onReady = func() map[string]bool {
	set := map[string]bool{}
	for _, r := range reasons {
		set[r.Reason] = true
	}
	for _, old := range []string{reasonRunning, reasonSuccessful, reasonFailed, reasonInstallSuccessful,
		reasonUpgradeSuccessful, reasonUninstallSuccessful, reasonDriftDetected, reasonNoDrift} {
		delete(set, old)
	}
	return set
}()
