package controller

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// cancelAnnotation ends the run that is in progress when its value changes.
const cancelAnnotation = annotationPrefix + "cancel-requested-at"

var errCancelRequested = errors.New("the run was cancelled on request")

// activeRuns are the runs in progress. They can be ended from outside.
type activeRuns struct {
	mu   sync.Mutex
	runs map[types.NamespacedName]context.CancelCauseFunc
}

func newActiveRuns() *activeRuns {
	return &activeRuns{runs: map[types.NamespacedName]context.CancelCauseFunc{}}
}

// add notes a run until the returned function is called. A resource has one run at a time.
func (a *activeRuns) add(key types.NamespacedName, cancel context.CancelCauseFunc) (ended func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs[key] = cancel
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.runs, key)
	}
}

// cancel ends the run of a resource, if there is one.
func (a *activeRuns) cancel(key types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if cancel := a.runs[key]; cancel != nil {
		cancel(errCancelRequested)
	}
}

// all returns which resources are being run.
func (a *activeRuns) all() map[types.NamespacedName]bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	running := map[types.NamespacedName]bool{}
	for key := range a.runs {
		running[key] = true
	}
	return running
}

// cancelled makes a run that ended because someone asked for that one which is not repeated by itself. A run that
// ended in time keeps its result.
func cancelled(ctx context.Context, result engine.Result) engine.Result {
	if result.Outcome != engine.Cancelled || !errors.Is(context.Cause(ctx), errCancelRequested) {
		return result
	}
	result.Outcome, result.Reason = engine.Permanent, engine.ReasonCancelled
	result.Message = "The run was cancelled by the annotation " + cancelAnnotation +
		"; change the spec or set " + requestAnnotation + " for another"
	return result
}
