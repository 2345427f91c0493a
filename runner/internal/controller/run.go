package controller

import (
	"context"
	"fmt"
	"maps"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/plan"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

// run carries out one run of a resource, from its job to its status.
func (r *reconciler) run(ctx context.Context, v *visit, mode engine.Mode) (reconcile.Result, error) {
	done, err := r.Turns.take(ctx, v.key)
	if err != nil { // the process ends
		return reconcile.Result{}, nil // nobody is there to repeat it
	}
	defer done()

	ctx, cancel := r.graceful(ctx)
	defer cancel(nil)
	defer r.active.add(v.key, cancel)()
	defer r.replaceAt(ctx, v, cancel)()

	v.ran = true
	r.noteInputs(v)
	job, err := r.job(ctx, v, mode)
	if err != nil {
		return r.noJob(ctx, v, job, err)
	}
	if v.waitKnown {
		r.Metrics.Waited(r.Watch.GVK, job.Trigger, v.waited)
	}
	if err := r.begin(ctx, v, job); err != nil {
		return reconcile.Result{}, err
	}
	r.begun(v, job)
	result, err := r.execute(ctx, v, job)
	if err != nil {
		return r.notRun(ctx, v, job, err)
	}
	result = cancelled(ctx, result)
	v.news.told(result.Outcome)
	v.episode.ended(result, job.Attempt, r.Watch.Retry, r.Clock.Now())
	return r.settle(ctx, v, job, result)
}

// graceful returns a context for a run, which may go on for a while after the process was asked to end.
func (r *reconciler) graceful(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-r.Clock.After(r.Defaults.Grace):
			cancel(nil)
		case <-run.Done():
		}
	})
	return run, func(cause error) { stop(); cancel(cause) }
}

// begin says in status that the run starts, unless nothing but time asked for it.
func (r *reconciler) begin(ctx context.Context, v *visit, job engine.Job) error {
	quiet := v.record.Ready && v.record.ObservedGeneration == v.generation && job.Mode == engine.Reconcile &&
		(job.Trigger == engine.TriggerPeriod || job.Trigger == engine.TriggerInitial)
	return r.write(ctx, v, status.Input{
		Phase: status.Running, Quiet: quiet, RunID: job.ID, Trigger: job.Trigger, Attempt: job.Attempt,
		Started: r.Clock.Now(), Deleting: job.Mode == engine.Finalize,
	})
}

// execute runs the engine between the two halves of what surrounds a run.
func (r *reconciler) execute(ctx context.Context, v *visit, job engine.Job) (engine.Result, error) {
	if r.UserMetrics != nil {
		url, closeURL := r.UserMetrics.Open(job.Owner)
		defer closeURL()
		job.Env = maps.Clone(job.Env)
		if job.Env == nil {
			job.Env = map[string]string{}
		}
		job.Env[metricsVariable] = url
	}
	if r.Access != nil {
		session, err := r.Access.Open(job.Owner, v.secrets.LearnSecret)
		if err != nil {
			return engine.Result{}, fmt.Errorf("open the API server to run %s: %w", job.ID, err)
		}
		job.Kubeconfig, err = session.Kubeconfig()
		if err != nil {
			session.Close()
			return engine.Result{}, fmt.Errorf("make the kubeconfig of run %s: %w", job.ID, err)
		}
		return r.bracketed(ctx, job, session.Close)
	}
	return r.bracketed(ctx, job, func() Usage { return Usage{} })
}

// bracketed keeps the run's own writes from waking its resource.
func (r *reconciler) bracketed(ctx context.Context, job engine.Job, used func() Usage) (engine.Result, error) {
	if r.Children != nil {
		r.Children.BeginRun(job.Owner)
	}
	r.Related.BeginRun(nameOfOwner(job.Owner))
	over := false
	defer func() { // an engine that panics must not leave its resource asleep for ever
		if !over {
			used()
			r.endRun(job.Owner, nil)
		}
	}()
	ended := r.Metrics.RunStarted(r.Watch.GVK)
	defer ended()
	result, err := r.Engine.Run(ctx, job)
	over = true
	usage := used()
	result.Writes = append(result.Writes, usage.Writes...)
	result.Denials = append(result.Denials, usage.Denials...)
	result.APIRequests += usage.Requests
	r.watchChildren(result.Children)
	r.endRun(job.Owner, result.Writes)
	return explainDenials(result), err
}

func (r *reconciler) endRun(owner engine.Owner, writes []engine.Write) {
	if r.Children != nil {
		r.Children.EndRun(owner, writes)
	}
	r.Related.EndRun(nameOfOwner(owner), writes)
}

// watchChildren watches what a chart made.
func (r *reconciler) watchChildren(children []engine.Child) {
	if r.Children == nil || !r.Watch.WatchDependentResources {
		return
	}
	for _, child := range children {
		r.Children.Found(r.Watch.GVK, child)
	}
}

// explainDenials names the missing right as the reason of a run that failed after the API server refused something.
func explainDenials(result engine.Result) engine.Result {
	if len(result.Denials) == 0 || result.Outcome.OK() || result.Outcome == engine.Waiting {
		return result
	}
	result.Reason = engine.ReasonForbidden
	result.Message = missingRule(result.Denials[0]) + ". " + result.Message
	return result
}

// notRun is what happens when the engine could not run at all.
func (r *reconciler) notRun(ctx context.Context, v *visit, job engine.Job, cause error) (reconcile.Result, error) {
	now := r.Clock.Now()
	v.episode.ended(engine.Result{Outcome: engine.Transient}, job.Attempt, r.Watch.Retry, now)
	r.logOf(v).Error(cause, "Could not run", "run", job.ID)
	r.Metrics.NotStarted(r.Watch.GVK, job)
	r.notBegun(v, job, cause)
	err := r.write(ctx, v, status.Input{
		Phase: status.Errored, RunID: job.ID, Trigger: job.Trigger, Attempt: job.Attempt,
		Message: cause.Error(), Deleting: job.Mode == engine.Finalize,
		Exhausted: v.episode.exhausted(r.Watch.Retry),
	})
	if err != nil {
		return reconcile.Result{}, err
	}
	return r.again(v, plan.After(plan.Ended{
		Result: engine.Result{Outcome: engine.Transient}, Mode: job.Mode, Attempt: job.Attempt, Retry: r.Watch.Retry,
	}))
}

// settle makes known what a run came to and plans the next.
func (r *reconciler) settle(ctx context.Context, v *visit, job engine.Job, result engine.Result) (reconcile.Result, error) {
	// The process may be ending and the run be cut short: what it came to is still worth writing down.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	r.report(v, job, result)
	if job.Mode == engine.Finalize && result.Outcome.OK() {
		return r.finalized(ctx, v, job, result)
	}
	err := r.write(ctx, v, status.Input{
		Phase: status.Done, RunID: job.ID, Trigger: job.Trigger, Attempt: job.Attempt, Started: result.Started,
		Result: result, Deleting: job.Mode == engine.Finalize, Manifest: r.StatusManifest,
		Request: requestOf(v, job), Inputs: v.inputs, Exhausted: v.episode.exhausted(r.Watch.Retry),
		Schedule: v.due.schedule, ScheduledFor: v.due.at,
	})
	if err != nil {
		return reconcile.Result{}, err
	}
	return r.again(v, plan.After(plan.Ended{
		Result: result, Mode: job.Mode, Attempt: job.Attempt, Retry: r.Watch.Retry, Period: v.period, Random: r.Random(),
	}))
}

// requestOf returns the request that a run granted, for status to show; empty when nobody asked for it.
func requestOf(v *visit, job engine.Job) string {
	if job.Trigger != engine.TriggerRequest {
		return ""
	}
	return v.obj.GetAnnotations()[requestAnnotation]
}

// settleTimeout bounds the writes after a run.
const settleTimeout = 30 * time.Second
