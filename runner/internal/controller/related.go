package controller

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

// Related reads the objects that resources of one kind refer to, and wakes the resources when these change.
type Related interface {
	// Resolve reads what obj refers to. Values of Secrets are told to learn. The error is an [*input.Refusal] when only
	// a change of obj helps.
	Resolve(ctx context.Context, obj *unstructured.Unstructured, deleting bool, learn func(...[]byte)) (References, error)
	// BeginRun and EndRun bracket a run: what it writes itself wakes nobody.
	BeginRun(name types.NamespacedName)
	EndRun(name types.NamespacedName, writes []engine.Write)
	// Complete reports whether all that a resource refers to is watched.
	Complete(name types.NamespacedName) bool
	// Forget drops what is known of a resource that is gone.
	Forget(name types.NamespacedName)
	// OnChange registers what to do when something that a resource refers to has changed.
	OnChange(wake func(types.NamespacedName))
}

// References is what came of a resource's references.
type References struct {
	Given         input.Given
	VaultPassword []byte
	Missing       string         // what is not there though the run needs it, in words
	Denial        *engine.Denial // the right for want of which something could not be read
}

// noRelated is for watches that refer to nothing.
type noRelated struct{}

func (noRelated) Resolve(context.Context, *unstructured.Unstructured, bool, func(...[]byte)) (References, error) {
	return References{}, nil
}
func (noRelated) BeginRun(types.NamespacedName)               {}
func (noRelated) EndRun(types.NamespacedName, []engine.Write) {}
func (noRelated) Complete(types.NamespacedName) bool          { return true }
func (noRelated) Forget(types.NamespacedName)                 {}
func (noRelated) OnChange(func(types.NamespacedName))         {}

// relatedRetry is when a resource that waits for an object looks again by itself. The object's appearance wakes it sooner,
// if it may be watched.
const relatedRetry = time.Minute

// unmet is the result of a run that was not started, since something that it needs is not there.
type unmet struct{ result engine.Result }

// Error implements error.
func (u *unmet) Error() string { return u.result.Message }

// refer gives the job what the resource refers to.
func (r *reconciler) refer(ctx context.Context, v *visit, job *engine.Job) (input.Given, error) {
	got, err := r.Related.Resolve(ctx, v.obj, job.Mode == engine.Finalize, v.secrets.Learn)
	switch {
	case err != nil:
		return input.Given{}, fmt.Errorf("read what %s refers to: %w", describe(v.obj), err)
	case got.Missing != "":
		return input.Given{}, &unmet{r.missing(got)}
	}
	job.VaultPassword, job.Env = got.VaultPassword, r.Watch.Env
	return got.Given, nil
}

// missing is what comes of a run that lacks an object: it waits, which is no failure, unless a right is missing.
func (r *reconciler) missing(got References) engine.Result {
	now := r.Clock.Now()
	result := engine.Result{
		Outcome: engine.Waiting, Reason: status.ReasonRelatedMissing, Message: "Waiting: " + got.Missing,
		RetryAfter: relatedRetry, Started: now, Finished: now,
	}
	if got.Denial != nil {
		result.Outcome, result.Message, result.RetryAfter = engine.Transient, got.Missing, 0
		result.Denials = []engine.Denial{*got.Denial}
		return explainDenials(result)
	}
	return result
}
