package controller

import (
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/chartbook-operator/chartbook/runner/internal/budget"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/internal/journal"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// Config is what a controller of one watch needs.
type Config struct {
	Watch  watches.Watch
	Engine engine.Engine
	// Inputs turns a resource into the inputs of its run.
	Inputs func(obj map[string]any, run input.Run) (map[string]any, error)
	// Fingerprint changes when the content or the operator does: what a run makes of the same resource may then differ.
	Fingerprint func() string
	// Access opens the API server to the child processes of a run; nil when the engine has none.
	Access Access
	// UserMetrics takes in the metrics that a run reports; nil when nobody does.
	UserMetrics UserMetrics
	// Children watches what runs made; nil when nothing is to be watched.
	Children Children
	// Related reads what resources refer to; nil when they refer to nothing.
	Related Related
	// Handover is told when a resource has become another watch's; nil for nobody.
	Handover func(owner engine.Owner)
	// Turns keep runs of one resource apart that several watches of its kind may start; nil where there is one watch.
	Turns *Turns
	// OnForeignChange registers what to do when somebody else changed what the engine keeps for a resource; nil when the
	// engine keeps nothing outside of its children. why says in a sentence what happened.
	OnForeignChange func(wake func(owner types.NamespacedName, why string))
	// Forget is told when a resource is gone; nil for nobody.
	Forget func(owner engine.Owner)
	// Tool is the old tool whose conditions are kept.
	Tool status.Tool
	// Finalizers are the names that hold a resource until it is cleaned up. The first is put on new resources,
	// the others are those of older tools and only taken off. Empty for none.
	Finalizers []string
	// Namespaces to watch; empty means all.
	Namespaces []string
	// StatusManifest writes rendered manifests to status, as helm-operator did.
	StatusManifest bool
	// SuppressOverrideValues keeps the values of overrideValues out of events.
	SuppressOverrideValues bool
	// Defaults hold where neither the watch nor the resource says otherwise.
	Defaults Defaults

	// Steps says which steps of a run are logged.
	Steps observe.Steps
	// Events records events about resources.
	Events Events
	// Metrics counts what happens.
	Metrics *observe.Metrics
	Log     logr.Logger
	// RunLog receives what runs do: their steps, and the line that sums each of them up.
	RunLog logr.Logger
	Clock  clock.WithTicker
	// Journal keeps records of runs; nil keeps none.
	Journal *journal.Journal
	// Executor is what the settings ask to carry runs out, for their records.
	Executor string
	// NewID returns a new run id.
	NewID func() string
	// Budget bounds the runs of all watches together.
	Budget *budget.Budget
	// Random returns a number in [0,1) that spreads periodic runs.
	Random func() float64
}

// Defaults are settings from the command line.
type Defaults struct {
	Period                  time.Duration // zero: no periodic runs
	Timeout                 time.Duration // zero: no deadline
	MaxConcurrentReconciles int
	Grace                   time.Duration // how long runs may go on after the process was asked to end
}

// Access opens the API server to the child processes of one run.
type Access interface {
	// Open opens the way of one run of owner. learn is told of each Secret that the run reads or writes, before the run
	// itself sees the answer; it may be called by several goroutines.
	Open(owner engine.Owner, learn func(secret map[string]any)) (Session, error)
}

// Session is one run's way to the API server.
type Session interface {
	// Kubeconfig returns the content of the run's kubeconfig, credentials included.
	Kubeconfig() ([]byte, error)
	// Close ends the access and says what it was used for.
	Close() Usage
}

// Usage is what a run asked of the API server.
type Usage struct {
	Requests int
	Writes   []engine.Write
	Denials  []engine.Denial
}

// UserMetrics takes in the metrics that playbooks report about themselves.
type UserMetrics interface {
	// Open returns where a run reports to, until closeURL is called.
	Open(owner engine.Owner) (url string, closeURL func())
}

// metricsVariable names to the child processes of a run where they report metrics to.
const metricsVariable = "CHARTBOOK_METRICS_URL"

// Children watches the children of resources.
type Children interface {
	// BeginRun and EndRun bracket a run: what it writes itself wakes nobody.
	BeginRun(owner engine.Owner)
	EndRun(owner engine.Owner, writes []engine.Write)
	// Found makes sure that changes of a child wake its owner, which is of kind primary.
	Found(primary schema.GroupVersionKind, child engine.Child)
	// Complete reports whether all children that runs of primary made are watched.
	Complete(primary schema.GroupVersionKind) bool
	// Unwatched says which children of primary cannot be watched and why, a stable sentence for each kind and place.
	Unwatched(primary schema.GroupVersionKind) []string
	// OnChange registers what to do when a child of a resource of kind primary was edited or deleted.
	// why says in a sentence what happened.
	OnChange(primary Primary, wake func(owner types.NamespacedName, why string))
}

// Primary describes a watched kind to [Children].
type Primary struct {
	GVK                schema.GroupVersionKind
	Namespaced         bool
	WatchClusterScoped bool
	Blacklist          []schema.GroupVersionKind
	// FollowStatus says of which kinds of children the status counts, too. Nil for none.
	FollowStatus func(child schema.GroupKind) bool
}

// Events records events about a resource.
type Events interface {
	Event(obj runtime.Object, event observe.Event)
}
