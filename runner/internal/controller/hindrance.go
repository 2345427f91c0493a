package controller

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/plan"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

// hindrance is a write of the controller's own that the API server did not take.
type hindrance struct {
	doing string // what was being done, the same for all resources
	err   error
}

func (h *hindrance) Error() string { return h.err.Error() }

func (h *hindrance) Unwrap() error { return h.err }

const writingStatus = "write the status"

// lasting reports whether an error stays until someone changes rights or policies. Others pass by themselves and are
// retried as they come.
func lasting(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err)
}

// hindered tells of a write that was refused, on the resource as far as it can be reached and once in the log, and comes
// back after a while. Errors that are none are returned.
func (r *reconciler) hindered(ctx context.Context, v *visit, err error) (reconcile.Result, error) {
	var h *hindrance
	if !errors.As(err, &h) || !lasting(err) || v.obj == nil {
		return reconcile.Result{}, err
	}
	reason := status.ReasonEngineError
	event := observe.EventFailed
	if apierrors.IsForbidden(err) {
		reason, event = engine.ReasonForbidden, observe.EventForbidden
	}
	if r.told.First(h.doing) {
		r.logOf(v).Info(string(event), "doing", h.doing, "message", err.Error())
	}
	r.event(v.obj, event, err.Error())
	attempt := v.episode.hindered()
	if h.doing != writingStatus {
		// That this fails too says nothing new.
		_ = r.write(ctx, v, status.Input{
			Phase: status.Errored, Reason: reason, Message: err.Error(), Deleting: v.obj.GetDeletionTimestamp() != nil,
		})
	}
	return r.again(v, plan.Next{After: plan.Backoff(r.Watch.Retry, attempt), Trigger: v.trigger})
}

// hindered counts the writes that were refused in a row.
func (e *episode) hindered() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refusals++
	return e.refusals
}
