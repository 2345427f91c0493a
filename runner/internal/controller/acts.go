package controller

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/plan"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

// gone forgets a resource that is not there any more, or has left the part of the cluster that is watched.
func (r *reconciler) gone(ctx context.Context, v *visit) (reconcile.Result, error) {
	done, err := r.Turns.take(ctx, v.key) // another watch of its kind may have a run of it in progress
	if err != nil {                       // the process ends
		return reconcile.Result{}, nil // nobody is there to repeat it
	}
	defer done()
	r.notes.forget(v.key)
	r.Related.Forget(v.key)
	r.forget(v.key)
	v.news = news{}
	if r.Forget != nil {
		r.Forget(ownerNamed(r.Watch.GVK, v.key))
	}
	r.Log.V(1).Info("Resource is gone", "kind", r.Watch.GVK.Kind, "namespace", v.key.Namespace, "name", v.key.Name)
	return reconcile.Result{}, nil
}

func (r *reconciler) skip(v *visit, d plan.Decision) (reconcile.Result, error) {
	if d.Rule == "Sibling" {
		r.handOver(v)
	}
	if d.Rule == "DeletedWithoutFinalizer" {
		r.logOf(v).Info("Resource is terminated, skipping reconciliation")
	} else {
		r.logOf(v).V(1).Info("Nothing to do", "rule", d.Rule, "why", d.Message)
	}
	return reconcile.Result{}, nil
}

// handOver forgets a resource that is another watch's, as far as only this one knew it.
func (r *reconciler) handOver(v *visit) {
	r.Related.Forget(v.key)
	v.news = news{}
	if r.Handover != nil {
		r.Handover(OwnerOf(v.obj))
	}
}

// letGo takes the finalizer off without cleaning up.
func (r *reconciler) letGo(ctx context.Context, v *visit, d plan.Decision) (reconcile.Result, error) {
	if _, err := r.release(ctx, v.obj); err != nil {
		return reconcile.Result{}, err
	}
	r.event(v.obj, observe.EventReleased, d.Message)
	r.logOf(v).Info("Removing finalizer", "why", d.Message)
	return reconcile.Result{}, nil
}

func (r *reconciler) refuse(ctx context.Context, v *visit, d plan.Decision) (reconcile.Result, error) {
	r.notes.plan(v.key, "", time.Time{})
	return reconcile.Result{}, r.write(ctx, v, status.Input{Phase: status.Refused, Reason: d.Reason, Message: d.Message})
}

func (r *reconciler) pause(ctx context.Context, v *visit, d plan.Decision) (reconcile.Result, error) {
	r.notes.plan(v.key, "", time.Time{})
	return reconcile.Result{}, r.write(ctx, v, status.Input{Phase: status.Paused, Message: d.Message})
}

// again asks for the next look.
func (r *reconciler) again(v *visit, next plan.Next) (reconcile.Result, error) {
	if next.After <= 0 {
		r.notes.plan(v.key, "", time.Time{})
		return reconcile.Result{}, nil
	}
	r.notes.plan(v.key, next.Trigger, r.Clock.Now().Add(next.After))
	r.waits.add(v.key, r.Clock.Now().Add(next.After))
	return reconcile.Result{Priority: new(priorityOf(next.Trigger))}, nil
}

// back asks for the look that was planned before a visit that had nothing to do came in between.
func (r *reconciler) back(key types.NamespacedName) reconcile.Result {
	return reconcile.Result{RequeueAfter: r.notes.next(key, r.Clock.Now())}
}

// describe names a resource in errors.
func describe(obj *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s", obj.GetKind(), keyOf(obj))
}
