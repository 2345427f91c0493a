package status

import (
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Input is what [Compute] judges by.
type Input struct {
	// Phase is how far the resource has come.
	Phase Phase
	// Tool is the old tool whose conditions are kept beside ours. Empty for none.
	Tool Tool
	// Deleting says that the resource is being deleted, so that the run is or was its finalizer's.
	Deleting bool
	// Released says that the finalizer has run since the resource left the selector: it stays, and is none of our business.
	Released bool
	// Quiet marks a run that nothing but time asked for, on a resource that is as it should be. In phase Running it
	// leaves status alone, so that an idle run costs no write.
	Quiet bool
	// Generation of the resource that the run was made for; zero for kinds without generations.
	Generation int64
	// RunID, Trigger, Attempt and Started tell of the run; empty where there is none.
	RunID   string
	Trigger engine.Trigger
	Attempt int
	Started time.Time
	// Request is the value of the annotation that asked for the run; kept so that it is granted once.
	Request string
	// Inputs is a digest of what the run was made from; kept after a good run. Empty for none.
	Inputs string
	// Schedule and ScheduledFor name the schedule whose time set the run off, and the time; kept so that a time is
	// granted once. Empty for none.
	Schedule     string
	ScheduledFor time.Time
	// Result is that of the run, in phase Done.
	Result engine.Result
	// Exhausted says that a failed run is not repeated, since the retries are used up.
	Exhausted bool
	// Reason and Message are the caller's, in phases Refused, Pending, Errored and Paused. The reason is from
	// this package's list; empty means the phase's own.
	Reason  string
	Message string
	// Manifest puts a release's manifest into status.deployedRelease, as the old tool did. It may hold secrets.
	Manifest bool
	// Redact takes secrets out of a text. Nil leaves texts as they are.
	Redact func(string) string
	// Now is the time of the change.
	Now time.Time
}

// Phase is how far a resource has come.
type Phase string

// The phases.
const (
	Running Phase = "Running" // a run is about to start
	Done    Phase = "Done"    // a run has ended, see Result
	Errored Phase = "Errored" // a run could not be started; it is tried again
	Refused Phase = "Refused" // there is no run until the resource changes
	Pending Phase = "Pending" // there is no run until something else is there
	Paused  Phase = "Paused"  // there is no run until the annotation is gone
)

// Tool is an old tool whose conditions we keep writing.
type Tool string

// The old tools.
const (
	AnsibleOperator Tool = "ansible-operator" // Running, Successful, Failure
	HelmOperator    Tool = "helm-operator"    // Initialized, Deployed, ReleaseFailed, Irreconcilable; deployedRelease
)
