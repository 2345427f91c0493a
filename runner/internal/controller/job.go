package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/internal/plan"
)

// noJob is what becomes of a run whose job cannot be made: its resource is refused, or waits for what it refers to.
func (r *reconciler) noJob(ctx context.Context, v *visit, job engine.Job, err error) (reconcile.Result, error) {
	if refusal, ok := errors.AsType[*input.Refusal](err); ok && job.Mode == engine.Reconcile {
		return r.refuse(ctx, v, plan.Decision{Reason: refusal.Reason, Message: refusal.Error()})
	}
	if lacking, ok := errors.AsType[*unmet](err); ok {
		v.episode.ended(lacking.result, job.Attempt, r.Watch.Retry, r.Clock.Now())
		return r.settle(ctx, v, job, lacking.result)
	}
	return reconcile.Result{}, err
}

// job builds what the engine is told.
func (r *reconciler) job(ctx context.Context, v *visit, mode engine.Mode) (engine.Job, error) {
	job := engine.Job{
		ID:             r.NewID(),
		Owner:          OwnerOf(v.obj),
		Mode:           mode,
		Trigger:        v.trigger,
		Attempt:        v.episode.attempt(),
		Annotations:    v.obj.GetAnnotations(),
		Timeout:        r.Defaults.Timeout,
		Redact:         v.secrets.String,
		VerifyChildren: r.verifyChildren(v),
	}
	job.Progress = r.progress(job) // after Redact
	v.why = v.news.reason(job.Trigger)
	if r.Watch.Timeout != nil {
		job.Timeout = *r.Watch.Timeout
	}
	given, err := r.refer(ctx, v, &job)
	if err != nil {
		return job, err
	}
	inputs, err := r.inputs(v, job, given)
	if err != nil {
		return job, fmt.Errorf("make the inputs of %s: %w", describe(v.obj), err)
	}
	job.Inputs = inputs
	return job, nil
}

// inputs turns the resource into inputs. What is refused does not keep a resource from going away: its cleaning run then
// sees nothing but which resource it is.
func (r *reconciler) inputs(v *visit, job engine.Job, given input.Given) (map[string]any, error) {
	run := input.Run{
		ID: job.ID, Trigger: job.Trigger, Reason: v.why, ChangedPaths: v.news.paths.List(),
		Generation: v.obj.GetGeneration(), Attempt: job.Attempt, Deleting: job.Mode == engine.Finalize,
		Schedule: v.episode.pending(v.due), Given: given,
	}
	inputs, err := r.Inputs(v.obj.Object, run)
	var refusal *input.Refusal
	if job.Mode != engine.Finalize || !errors.As(err, &refusal) {
		return inputs, err
	}
	r.logOf(v).Info("The resource is refused; cleaning up with its name only", "why", refusal.Error())
	return r.Inputs(identityOf(v.obj).Object, run)
}

// identityOf returns a resource that has nothing but what the API server vouches for, and an empty spec.
func identityOf(obj *unstructured.Unstructured) *unstructured.Unstructured {
	bare := ofKind(obj.GroupVersionKind())
	bare.SetNamespace(obj.GetNamespace())
	bare.SetName(obj.GetName())
	bare.SetUID(obj.GetUID())
	bare.SetGeneration(obj.GetGeneration())
	bare.SetCreationTimestamp(obj.GetCreationTimestamp())
	bare.SetDeletionTimestamp(obj.GetDeletionTimestamp())
	bare.SetFinalizers(obj.GetFinalizers())
	bare.Object["spec"] = map[string]any{}
	return bare
}

// verifyChildren reports whether the run has to look at what earlier runs made.
func (r *reconciler) verifyChildren(v *visit) bool {
	verify := []engine.Trigger{engine.TriggerDependent, engine.TriggerRequest, engine.TriggerInitial, engine.TriggerRetry}
	if slices.Contains(verify, v.trigger) {
		return true
	}
	return r.Children == nil || !r.Watch.WatchDependentResources || !r.Children.Complete(r.Watch.GVK)
}
