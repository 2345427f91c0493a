package controller

import (
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/journal"
)

// begun keeps a record of a run that begins.
func (r *reconciler) begun(v *visit, job engine.Job) {
	record := r.recordOf(v, job)
	record.State, record.Started = journal.Running, r.Clock.Now()
	r.Journal.Add(record)
}

// ended keeps a record of a run that has ended. Its message holds no secret any more.
func (r *reconciler) ended(v *visit, job engine.Job, result engine.Result) {
	record := r.recordOf(v, job)
	record.State, record.Started, record.Finished = journal.Ended, result.Started, result.Finished
	if record.Finished.IsZero() { // the engine was not asked
		record.Finished = r.Clock.Now()
	}
	record.Outcome, record.Reason, record.Message = result.Outcome, result.Reason, result.Message
	record.Executor, record.Fallback, record.Modules = result.Executor, result.Fallback, result.Modules
	record.Requests, record.Processes, record.MemoryBytes = result.APIRequests, result.Processes, result.MaxRSSBytes
	if s := result.Stats; s != nil {
		record.Tasks = &journal.Tasks{OK: s.OK, Changed: s.Changed, Skipped: s.Skipped, Failed: s.Failures}
	}
	if release := result.Release; release != nil {
		record.Release = &journal.Release{Name: release.Name, Revision: release.Version, Action: release.Action}
	}
	r.Journal.Add(record)
}

// notBegun keeps a record of a run that could not begin.
func (r *reconciler) notBegun(v *visit, job engine.Job, cause error) {
	message := cause.Error()
	if job.Redact != nil {
		message = job.Redact(message)
	}
	r.ended(v, job, engine.Result{Outcome: journal.NotStarted, Message: message})
}

func (r *reconciler) recordOf(v *visit, job engine.Job) journal.Record {
	return journal.Record{
		ID: job.ID,
		Resource: journal.Resource{
			APIVersion: job.Owner.APIVersion, Kind: job.Owner.Kind,
			Namespace: job.Owner.Namespace, Name: job.Owner.Name, Generation: job.Owner.Generation,
		},
		Mode: job.Mode, Trigger: job.Trigger, Schedule: v.due.schedule, Why: v.why, Attempt: job.Attempt,
		Path: journal.Path{Asked: r.Executor}, WaitSeconds: v.waited.Seconds(),
	}
}
