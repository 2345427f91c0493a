package journal

import (
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// format is the version of records that this package writes, and the only one that it reads.
const format = 1

// Record is what is known of one run that has ended, runs, waits or is planned. What is not known or says nothing is empty.
type Record struct {
	Format int    `json:"format"`       // version of this type
	ID     string `json:"id,omitempty"` // of the run; one that waits or is planned has none yet
	State  State  `json:"state"`
	Resource

	Mode     engine.Mode    `json:"mode,omitempty"`
	Trigger  engine.Trigger `json:"trigger"`
	Schedule string         `json:"schedule,omitempty"` // name of the schedule that is due
	Why      string         `json:"why,omitempty"`      // a sentence about the trigger
	Attempt  int            `json:"attempt,omitempty"`  // runs since the last good one, from 1
	Path

	Due      time.Time `json:"due,omitzero"` // since when it waits, or when it is planned
	WaitsFor Obstacle  `json:"waitsFor,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// WaitSeconds is how long the resource waited for the run.
	WaitSeconds float64 `json:"waitSeconds,omitempty"`

	Outcome     engine.Outcome `json:"outcome,omitempty"`
	Reason      string         `json:"reason,omitempty"`
	Message     string         `json:"message,omitempty"` // without secrets, at most 1 KiB
	Tasks       *Tasks         `json:"tasks,omitempty"`   // of a play that came to its end
	Release     *Release       `json:"release,omitempty"` // of a chart
	Requests    int            `json:"requests,omitempty"`
	Processes   int            `json:"processes,omitempty"`
	MemoryBytes int64          `json:"memoryBytes,omitempty"` // largest resident memory of one process
}

// Resource is the resource that a run is for.
type Resource struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"` // empty for a cluster-scoped one
	Name       string `json:"name"`
	Generation int64  `json:"generation,omitempty"`
}

// Path is how a run was carried out.
type Path struct {
	Asked    string         `json:"executorAsked,omitempty"` // executor that the settings ask for
	Executor string         `json:"executor,omitempty"`      // that carried it out
	Fallback string         `json:"fallback,omitempty"`      // why it was not the one that was asked for
	Modules  map[string]int `json:"modules,omitempty"`       // modules that ran in forks ("forked"), and that did not, by reason
}

// Tasks counts the tasks of a play.
type Tasks struct {
	OK      int `json:"ok"`
	Changed int `json:"changed"`
	Skipped int `json:"skipped"`
	Failed  int `json:"failed"`
}

// Release is what a run did to a release.
type Release struct {
	Name     string        `json:"name"`
	Revision int           `json:"revision"`
	Action   engine.Action `json:"action"`
}

// State is how far a run is.
type State string

// The states.
const (
	Planned     State = "planned"     // it comes by itself, later
	Queued      State = "queued"      // the resource waits for it
	Running     State = "running"     // it has begun
	Ended       State = "ended"       // it has an outcome
	Interrupted State = "interrupted" // the operator was killed in the midst of it
)

// Obstacle is what a queued run waits for.
type Obstacle string

// The obstacles.
const (
	ForWorker Obstacle = "Worker" // other resources of its kind, see maxConcurrentReconciles
	ForSlot   Obstacle = "Slot"   // runs of all kinds, see --max-concurrent-runs
	ForRun    Obstacle = "Run"    // the resource's own run in progress
)

// NotStarted is the outcome of a run that could not begin.
const NotStarted engine.Outcome = "NotStarted"
