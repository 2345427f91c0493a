package engine

import "context"

// Engine runs the content of one watch: a playbook, a role or a chart.
//
// Run is called for many resources at once and must be safe for that; it is never called twice at the same
// time for one resource. It returns soon after ctx is done, with Outcome Cancelled and nothing left running.
type Engine interface {
	// Run carries out job. The error is non-nil only when nothing could be started.
	Run(ctx context.Context, job Job) (Result, error)
	// Ready returns nil when a job could be run now, else what is missing and what to do about it.
	Ready(ctx context.Context) error
}
