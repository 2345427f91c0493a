package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Job is one run of a watch's content for one resource. It is data: engines do not change it.
type Job struct {
	// ID names the run in logs, events, artifacts and status. It is unique in a cluster's life, made of
	// lower-case letters, digits and "-", and at most 32 characters long.
	ID string
	// Owner is the resource that the run is for.
	Owner Owner
	// Mode says whether to bring the resource about or to clean up after it.
	Mode Mode
	// Trigger is why the run happens.
	Trigger Trigger
	// Attempt counts the runs since the last success, from 1.
	Attempt int
	// Inputs are the extra vars of a play or the values of a chart: JSON-compatible (nil, bool, int64,
	// float64, string, []any, map[string]any) and owned by the job.
	Inputs map[string]any
	// Annotations of the resource. An engine reads those of its own prefix only (verbosity, upgrade-force ...).
	Annotations map[string]string
	// Timeout ends the run with Outcome TimedOut; zero means no deadline beyond ctx.
	Timeout time.Duration
	// Kubeconfig is the content of the kubeconfig that child processes get; nil when there is none.
	Kubeconfig []byte
	// Env is added to the environment of child processes; it wins over what the operator's own environment says.
	Env map[string]string
	// VaultPassword is what content that is encrypted with Ansible Vault is decrypted with; nil for none. Engines of charts
	// do without.
	VaultPassword []byte
	// Redact takes secrets out of a text before it leaves the run: in events, messages, outputs and artifacts. It may
	// learn further secrets while the run goes on, and is safe for concurrent use. Nil when there are none.
	Redact func(string) string
	// VerifyChildren asks for a look at what the run made before, although its inputs did not change: a child
	// was edited or deleted, a watch on some child kind is impossible, or the operator has just started.
	VerifyChildren bool
	// Progress, if set, is told of each step as it happens. It must not block and may be called from several
	// goroutines, though never after Run has returned.
	Progress func(Event)
}

// Owner identifies the resource of a run.
type Owner struct {
	APIVersion string
	Kind       string
	Namespace  string // empty for a cluster-scoped resource
	Name       string
	UID        types.UID
	Generation int64
}

// Mode is what a run is to do.
type Mode string

// The modes of a run.
const (
	Reconcile Mode = "reconcile" // bring about what the resource asks for
	Finalize  Mode = "finalize"  // clean up, since the resource is being deleted
)

// Trigger is why a run happens. Its text reaches playbooks as chartbook_run.trigger.
type Trigger string

// The triggers, the most urgent first.
const (
	TriggerDeletion  Trigger = "deletion"  // the resource is being deleted
	TriggerSpec      Trigger = "spec"      // the resource is new or its spec changed
	TriggerMetadata  Trigger = "metadata"  // a label or annotation changed
	TriggerRequest   Trigger = "request"   // someone asked for a run by annotation
	TriggerDependent Trigger = "dependent" // a child was edited or deleted
	TriggerRelated   Trigger = "related"   // an object that the resource refers to has changed
	TriggerSchedule  Trigger = "schedule"  // a time of the watch's schedule has come
	TriggerRetry     Trigger = "retry"     // the run before this one failed or asked to be repeated
	TriggerPeriod    Trigger = "period"    // the reconcile period is over
	TriggerInitial   Trigger = "initial"   // the operator has started and found the resource
)
