package enginetest

import (
	"context"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Script is what one run of a [Fake] does. ctx ends with the job's timeout too. The job is a copy of its own.
//
// A script that returns ctx's error leaves it to the Fake to say whether that means Cancelled or TimedOut.
type Script func(ctx context.Context, job engine.Job) (engine.Result, error)

// Return ends at once with result; an empty Outcome means Succeeded.
func Return(result engine.Result) Script {
	return func(context.Context, engine.Job) (engine.Result, error) { return result, nil }
}

// Break could not start anything.
func Break(err error) Script {
	return func(context.Context, engine.Job) (engine.Result, error) { return engine.Result{}, err }
}

// Block never ends by itself.
func Block() Script {
	return func(ctx context.Context, _ engine.Job) (engine.Result, error) {
		<-ctx.Done()
		return engine.Result{}, ctx.Err()
	}
}

// After waits until open is closed or gives a value, then does what script says.
func After(open <-chan struct{}, script Script) Script {
	return func(ctx context.Context, job engine.Job) (engine.Result, error) {
		select {
		case <-open:
			return script(ctx, job)
		case <-ctx.Done():
			return engine.Result{}, ctx.Err()
		}
	}
}

// Tell reports events to the job's Progress, then does what script says.
func Tell(events []engine.Event, script Script) Script {
	return func(ctx context.Context, job engine.Job) (engine.Result, error) {
		for _, event := range events {
			if job.Progress != nil {
				job.Progress(event)
			}
		}
		return script(ctx, job)
	}
}
