package controller

import (
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

// Annotations by which people steer a resource.
const (
	pausedAnnotation        = annotationPrefix + "paused"
	requestAnnotation       = annotationPrefix + "reconcile-requested-at"
	skipFinalizerAnnotation = annotationPrefix + "skip-finalizer"
)

// report writes down what a run came to: its metrics, the refusals that are news and the one line that sums it up.
func (r *reconciler) report(v *visit, job engine.Job, result engine.Result) {
	run := observe.Run{Job: job, Result: result, Chart: r.Watch.Chart != "", Waited: v.waited}
	r.Metrics.RunEnded(r.Watch.GVK, run)
	run, log := run.Redacted(job.Redact), r.runLog(job)
	r.ended(v, job, run.Result)
	for _, d := range r.denials.fresh(result.Denials) {
		log.Info("Forbidden", "missing", missingRule(d), observe.KeyMessage, d.Message)
	}
	for _, event := range observe.RunEvents(run) {
		r.Events.Event(v.obj, event.Redacted(job.Redact))
	}
	r.tellUnwatched(v)
	r.overrides(v, result)
	observe.Summarize(run).Log(log)
}

// overrides tells that values of the watches file took the place of the resource's, as helm-operator did.
func (r *reconciler) overrides(v *visit, result engine.Result) {
	if result.Release == nil || (result.Release.Action != engine.ActionInstall && result.Release.Action != engine.ActionUpgrade) {
		return
	}
	for _, override := range r.Watch.OverrideValues {
		value := override.Value
		if r.SuppressOverrideValues {
			value = "****"
		}
		r.event(v.obj, observe.EventOverrideValuesInUse,
			fmt.Sprintf("Chart value %q is set to %q by the operator's watches file", override.Key, value))
	}
}

// event records something about a resource.
func (r *reconciler) event(obj *unstructured.Unstructured, reason observe.EventReason, note string) {
	r.Events.Event(obj, observe.NewEvent(reason, engine.Reconcile, note))
}

// announce records events for what a write of status changed.
func (r *reconciler) announce(obj *unstructured.Unstructured, in status.Input, transitions []status.Transition) {
	change := observe.Change{Mode: engine.Reconcile}
	if in.Deleting {
		change.Mode = engine.Finalize
	}
	if in.Phase == status.Done {
		change.Outcome = in.Result.Outcome
	}
	for _, t := range transitions {
		change.Transitions = append(change.Transitions, observe.Transition(t))
	}
	for _, event := range observe.Events(change) {
		r.Events.Event(obj, event)
	}
}

func (r *reconciler) logOf(v *visit) logr.Logger {
	return r.Log.WithValues("namespace", v.key.Namespace, "name", v.key.Name)
}

// OwnerOf returns the identity of a resource.
func OwnerOf(obj *unstructured.Unstructured) engine.Owner {
	return engine.Owner{
		APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Namespace: obj.GetNamespace(), Name: obj.GetName(),
		UID: obj.GetUID(), Generation: obj.GetGeneration(),
	}
}

func nameOfOwner(owner engine.Owner) types.NamespacedName {
	return types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name}
}

// ownerNamed returns the identity of a resource that is gone.
func ownerNamed(gvk schema.GroupVersionKind, key types.NamespacedName) engine.Owner {
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	return engine.Owner{APIVersion: apiVersion, Kind: kind, Namespace: key.Namespace, Name: key.Name}
}

// progress logs the steps of a run, in the order in which they come.
func (r *reconciler) progress(job engine.Job) func(engine.Event) {
	log, verbose := r.runLog(job), r.Steps.VerboseFor(job.Annotations)
	return func(e engine.Event) {
		if line, ok := r.Steps.Line(observe.RedactedStep(e, job.Redact), verbose); ok {
			line.Log(log)
		}
	}
}

// runLog is for the lines about a run.
func (r *reconciler) runLog(job engine.Job) logr.Logger {
	return r.RunLog.WithValues(observe.KeyNamespace, job.Owner.Namespace, observe.KeyName, job.Owner.Name, observe.KeyRun, job.ID)
}
