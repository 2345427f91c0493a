package controller

import (
	"context"
	"errors"
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

// write brings the resource's status to what in says and makes the changes known as events. A watch that does not
// manage status has its status in memory only, for the events.
func (r *reconciler) write(ctx context.Context, v *visit, in status.Input) error {
	in.Tool, in.Generation, in.Now, in.Redact = r.Tool, v.generation, r.Clock.Now(), v.secrets.String
	var transitions []status.Transition
	compute := func(prev map[string]any) map[string]any {
		next, changed := status.Compute(prev, in)
		transitions = changed
		return next
	}
	if !r.Watch.ManageStatus {
		v.episode.shadow = compute(v.episode.shadow)
		r.announce(v.obj, in, transitions)
		return nil
	}
	written, err := r.status.Write(ctx, v.obj, compute)
	if errors.Is(err, status.ErrNoStatusSubresource) {
		r.logOf(v).Info("The CRD has no status subresource, so the record of runs is kept in an annotation; add subresources.status to it",
			"annotation", status.Annotation)
		r.event(v.obj, observe.EventNoStatusSubresource, "the CRD has no status subresource; add subresources.status to it")
	} else if err != nil {
		return &hindrance{doing: writingStatus, err: err}
	}
	if len(written.Pruned) > 0 {
		fields := strings.Join(written.Pruned, ", ")
		r.logOf(v).Info("The CRD's schema drops fields of status; add them to it", "fields", fields)
		r.event(v.obj, observe.EventStatusPruned, "the CRD's schema drops these fields of status; add them to it: "+fields)
	}
	if written.Gone {
		return nil
	}
	v.obj = written.Object
	if written.Changed {
		r.reader.wrote(written.Object)
		r.announce(v.obj, in, transitions)
	}
	return nil
}
