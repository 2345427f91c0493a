package controller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

// finalized lets a resource go after its cleaning run.
func (r *reconciler) finalized(ctx context.Context, v *visit, job engine.Job, result engine.Result) (reconcile.Result, error) {
	leaving := v.obj.GetDeletionTimestamp() == nil // it left the selector and stays
	released, err := r.release(ctx, v.obj)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.logOf(v).Info("Removing finalizer", "run", job.ID)
	if released == nil {
		return reconcile.Result{}, nil
	}
	v.obj = released
	if leaving {
		r.event(v.obj, observe.EventReleased, "cleaned up, since the resource does not match the selector any more")
		v.episode.reset()
	} else if len(released.GetFinalizers()) == 0 {
		return reconcile.Result{}, nil // nothing holds it: it is going, and so is its status
	}
	err = r.write(ctx, v, status.Input{
		Phase: status.Done, RunID: job.ID, Trigger: job.Trigger, Attempt: job.Attempt, Started: result.Started,
		Result: result, Deleting: true, Released: leaving,
	})
	return reconcile.Result{}, err
}
