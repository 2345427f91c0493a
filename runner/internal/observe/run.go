package observe

import (
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Run is a run that has ended.
type Run struct {
	Job    engine.Job
	Result engine.Result
	// Chart says that the run was a chart's; else it was a playbook's or a role's.
	Chart bool
	// Waited is how long the resource waited for the run; zero if that is not known.
	Waited time.Duration
}

// failed says that the run failed, rather than waits or was cut off.
func (r Run) failed() bool {
	o := r.Result.Outcome
	return o == engine.Transient || o == engine.Permanent || o == engine.TimedOut
}

// duration is how long the run took; zero if that is not known.
func (r Run) duration() time.Duration {
	if r.Result.Started.IsZero() || r.Result.Finished.Before(r.Result.Started) {
		return 0
	}
	return r.Result.Finished.Sub(r.Result.Started)
}
