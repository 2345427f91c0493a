package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/chartbook-operator/chartbook/runner/internal/budget"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/plan"
	"github.com/chartbook-operator/chartbook/runner/internal/redact"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

// reconciler takes the resources of one watch through their steps.
type reconciler struct {
	Config
	Client client.Client // writes
	Live   client.Reader // reads past the cache

	selector labels.Selector
	reader   *reader
	notes    *notes
	waits    *waits
	waker    *waker
	status   *status.Writer
	denials  *denialLog
	told     *once // refusals of own writes

	active *activeRuns

	mu       sync.Mutex
	episodes map[types.NamespacedName]*episode
}

// visit is one look at one resource.
type visit struct {
	key types.NamespacedName
	obj *unstructured.Unstructured
	cause
	// generation is that of the spec which the visit is about. Writes of status bring newer states of the resource, whose
	// spec this visit has not looked at.
	generation int64
	record     status.Record // what status said when the visit began
	period     time.Duration
	refusal    *plan.Refusal
	inputs     string // digest of what the run is made from; empty where nobody asks
	ran        bool
	episode    *episode
	news       news           // what the run is told; given back unless it is a good one
	secrets    *redact.Values // what must not be told

	waited    time.Duration // from when it was asked for or due
	waitKnown bool
}

// Reconcile is called for one resource at a time, never twice at once for the same.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
	v := &visit{key: request.NamespacedName, cause: r.notes.take(request.NamespacedName, r.Clock.Now())}
	if v.trigger == "" {
		return r.back(v.key), nil
	}
	v.news = r.notes.news.take(v.key)
	defer func() { r.notes.news.giveBack(v.key, v.news) }()
	finished := false
	defer func() { // an error or a panic brings the resource back, for the same cause
		if err != nil || !finished {
			r.bringBack(v)
		}
	}()
	if result, err = r.visit(ctx, v); err != nil {
		result, err = r.hindered(ctx, v, err)
	}
	finished = true
	if err != nil {
		return reconcile.Result{}, err
	}
	r.scheduleNext(v)
	result.RequeueAfter = r.notes.next(v.key, r.Clock.Now())
	return result, nil
}

// bringBack notes the cause of a visit anew.
func (r *reconciler) bringBack(v *visit) {
	if v.due.schedule != "" {
		r.notes.schedule(v.key, v.due)
		return
	}
	r.notes.add(v.key, v.trigger)
}

func (r *reconciler) visit(ctx context.Context, v *visit) (reconcile.Result, error) {
	decision, err := r.look(ctx, v)
	if err != nil {
		return reconcile.Result{}, err
	}
	if decision.Runs() {
		done, waited, err := r.slot(ctx, v)
		if err != nil {
			return reconcile.Result{}, nil
		}
		defer done()
		if waited { // the resource may have changed meanwhile
			if decision, err = r.lookAgain(ctx, v); err != nil {
				return reconcile.Result{}, err
			}
		}
	}
	return r.act(ctx, v, decision)
}

// look reads the resource and decides what to do. v.obj is nil when there is no such resource.
func (r *reconciler) look(ctx context.Context, v *visit) (plan.Decision, error) {
	obj, err := r.fetch(ctx, v)
	if err != nil || obj == nil {
		v.obj = nil
		return plan.Decision{}, err
	}
	r.prepare(v, obj)
	return plan.Decide(r.facts(v)), nil
}

// lookAgain takes in what was noted since the visit began, so that one run answers it all.
func (r *reconciler) lookAgain(ctx context.Context, v *visit) (plan.Decision, error) {
	later := r.notes.take(v.key, r.Clock.Now())
	if later.trigger != "" && urgency[later.trigger] > urgency[v.trigger] {
		v.trigger = later.trigger
	}
	if later.due.schedule != "" {
		v.due = later.due
	}
	v.news.add(r.notes.news.take(v.key))
	return r.look(ctx, v)
}

// slot waits until the run may start. The error says that ctx was done first.
func (r *reconciler) slot(ctx context.Context, v *visit) (done func(), waited bool, err error) {
	return r.Budget.Acquire(ctx, budget.Request{Watch: r.Watch.GVK.String(), Priority: priorityOf(v.trigger)})
}

// act does what was decided.
func (r *reconciler) act(ctx context.Context, v *visit, decision plan.Decision) (reconcile.Result, error) {
	v.waited, v.waitKnown = r.waits.take(v.key, r.Clock.Now())
	if v.obj == nil {
		return r.gone(v)
	}
	switch decision.Action {
	case plan.Release:
		return r.letGo(ctx, v, decision)
	case plan.Skip:
		return r.skip(v, decision)
	case plan.Wait:
		return r.again(v, plan.Next{After: decision.After, Trigger: decision.Trigger})
	case plan.Refuse:
		return r.refuse(ctx, v, decision)
	case plan.Pause:
		return r.pause(ctx, v, decision)
	case plan.Hold:
		held, err := r.hold(ctx, v.obj, r.Finalizers[0])
		if err != nil || held == nil {
			return reconcile.Result{}, err
		}
		v.obj = held
	case plan.Run:
	}
	return r.run(ctx, v, decision.Mode)
}

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
	v.obj, v.generation, v.refusal = obj, generationOf(obj), nil
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

// gone forgets a resource that is not there any more, or has left the part of the cluster that is watched.
func (r *reconciler) gone(v *visit) (reconcile.Result, error) {
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
	if d.Rule == "DeletedWithoutFinalizer" {
		r.logOf(v).Info("Resource is terminated, skipping reconciliation")
	} else {
		r.logOf(v).V(1).Info("Nothing to do", "rule", d.Rule, "why", d.Message)
	}
	return reconcile.Result{}, nil
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
