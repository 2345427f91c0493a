package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/plan"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

// fetch reads the resource. A child that goes is often a sign that its owner has gone, and the news of the child may be
// faster: then the API server is asked, or a run would bring back children of nobody.
func (r *reconciler) fetch(ctx context.Context, v *visit) (*unstructured.Unstructured, error) {
	obj, err := r.reader.get(ctx, v.key)
	if obj == nil || v.trigger != engine.TriggerDependent {
		return obj, err
	}
	return r.live(ctx, v.key)
}

// live reads a resource past the cache; nil when there is none.
func (r *reconciler) live(ctx context.Context, key types.NamespacedName) (*unstructured.Unstructured, error) {
	obj := ofKind(r.Watch.GVK)
	err := r.Live.Get(ctx, key, obj)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s %s past the cache: %w", r.Watch.GVK.Kind, key, err)
	}
	return obj, nil
}

// prepare gathers what is known of the resource.
func (r *reconciler) prepare(v *visit, obj *unstructured.Unstructured) {
	v.obj, v.generation, v.refusal, v.inputs = obj, generationOf(obj), nil, ""
	v.secrets = secretsOf(obj)
	v.record = status.Read(status.Of(obj))
	v.episode = r.episodeOf(obj)
	period, err := plan.Period(obj.GetAnnotations(), r.Watch.ReconcilePeriod, r.Defaults.Period)
	v.period = period
	if err != nil {
		v.refusal = &plan.Refusal{Reason: status.ReasonRefused, Message: err.Error()}
	}
}

// facts are what the plan decides by.
func (r *reconciler) facts(v *visit) plan.Input {
	annotations := v.obj.GetAnnotations()
	in := plan.Input{
		Trigger:       v.trigger,
		Deleting:      v.obj.GetDeletionTimestamp() != nil,
		Held:          len(held(v.obj, r.Finalizers)) > 0,
		Selected:      r.selector.Matches(labels.Set(v.obj.GetLabels())),
		Sibling:       r.siblings.have(labels.Set(v.obj.GetLabels())),
		Paused:        annotations[pausedAnnotation] == "true",
		SkipFinalizer: annotations[skipFinalizerAnnotation] == "true",
		Changed:       v.record.ObservedGeneration != v.generation,
		Stalled:       v.record.Stalled,
		Exhausted:     v.episode.exhausted(r.Watch.Retry),
		Unchanged:     r.unchanged(v),
		Period:        v.period,
		Random:        r.Random(),
		LastGood:      v.lastGood(),
		Refusal:       v.refusal,
		RetryAt:       v.episode.retryAt(),
		Now:           r.Clock.Now(),
	}
	if len(r.Finalizers) > 0 {
		in.Finalizer = r.Finalizers[0]
	}
	return in
}
