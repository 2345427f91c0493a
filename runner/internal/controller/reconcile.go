package controller

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/chartbook-operator/chartbook/runner/internal/budget"
	"github.com/chartbook-operator/chartbook/runner/internal/once"
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
	siblings siblings
	reader   *reader
	notes    *notes
	waits    *waits
	lobby    *lobby
	waker    *waker
	status   *status.Writer
	denials  *denialLog
	told     *once.Texts // refusals of own writes

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
	why        string         // it runs: a sentence about the trigger
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
	defer r.lobby.enter(v)()
	return r.Budget.Acquire(ctx, budget.Request{Watch: r.Watch.GVK.String(), Priority: priorityOf(v.trigger)})
}

// act does what was decided.
func (r *reconciler) act(ctx context.Context, v *visit, decision plan.Decision) (reconcile.Result, error) {
	v.waited, v.waitKnown = r.waits.take(v.key, r.Clock.Now())
	if v.obj == nil {
		return r.gone(ctx, v)
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
