package controller

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
)

// forever is a sync timeout that never comes: a kind that may not be listed yet is no reason to end the process.
const forever = 100 * 365 * 24 * time.Hour

// queue is the work queue of controller-runtime, which knows priorities.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// waker puts resources into the queue and notes why.
type waker struct {
	notes *notes
	waits *waits
	now   func() time.Time
	mu    sync.Mutex
	queue queue // nil until the controller starts
}

// tell keeps what the next run of key is told. It comes before add, or a visit might miss it.
func (w *waker) tell(key types.NamespacedName, happened news) { w.notes.news.add(key, happened) }

// wake queues key because of trigger.
func (w *waker) wake(key types.NamespacedName, trigger engine.Trigger) {
	w.mu.Lock()
	q := w.queue
	w.mu.Unlock()
	if q == nil {
		return // the first list of resources is still to come and brings them all
	}
	w.add(q, key, trigger)
}

func (w *waker) add(q queue, key types.NamespacedName, trigger engine.Trigger) {
	w.addAfter(q, key, trigger, 0)
}

// settling is how long resources wait that were as they should be when the operator started. Workers would else begin with
// the first of the list, before the one has been seen whose run was interrupted.
const settling = time.Second

func (w *waker) addAfter(q queue, key types.NamespacedName, trigger engine.Trigger, wait time.Duration) {
	w.notes.add(key, trigger)
	w.waits.add(key, w.now().Add(wait))
	request := reconcile.Request{NamespacedName: key}
	if pq, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		pq.AddWithOpts(priorityqueue.AddOpts{After: wait, Priority: new(priorityOf(trigger))}, request)
		return
	}
	q.AddAfter(request, wait)
}

// source keeps the queue for wakes from outside the watch.
func (w *waker) source() source.Source {
	return source.Func(func(_ context.Context, q queue) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.queue = q
		return nil
	})
}

// handler turns events of the primary kind into notes and queue entries.
func (w *waker) handler(filter changeFilter, seen sightings, active *activeRuns) handler.TypedEventHandler[*unstructured.Unstructured, reconcile.Request] {
	return handler.TypedFuncs[*unstructured.Unstructured, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*unstructured.Unstructured], q queue) {
			seen.exists(e.Object)
			trigger := triggerOfFound(e.Object, e.IsInInitialList)
			w.tell(keyOf(e.Object), foundNews(trigger, e.IsInInitialList))
			if trigger == engine.TriggerInitial {
				w.addAfter(q, keyOf(e.Object), trigger, settling)
				return
			}
			w.add(q, keyOf(e.Object), trigger)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*unstructured.Unstructured], q queue) {
			seen.exists(e.ObjectNew)
			if e.ObjectOld.GetUID() != e.ObjectNew.GetUID() { // deleted and made again between two events
				w.notes.news.take(keyOf(e.ObjectNew))
				w.tell(keyOf(e.ObjectNew), foundNews(engine.TriggerSpec, false))
				w.add(q, keyOf(e.ObjectNew), engine.TriggerSpec)
				return
			}
			if filter.cancels(e.ObjectOld, e.ObjectNew) {
				active.cancel(keyOf(e.ObjectNew))
			}
			trigger, ok := filter.triggerOf(e.ObjectOld, e.ObjectNew)
			w.tell(keyOf(e.ObjectNew), filter.news(e.ObjectOld, e.ObjectNew, trigger))
			if ok {
				w.add(q, keyOf(e.ObjectNew), trigger)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*unstructured.Unstructured], q queue) {
			seen.gone(e.Object)
			w.add(q, keyOf(e.Object), engine.TriggerDeletion)
		},
	}
}

// sightings keep the metric of when each resource was created.
type sightings struct {
	gvk     schema.GroupVersionKind
	metrics *observe.Metrics
}

func (s sightings) exists(obj *unstructured.Unstructured) {
	s.metrics.SetCreated(s.gvk, obj.GetNamespace(), obj.GetName(), obj.GetCreationTimestamp().Time)
}

func (s sightings) gone(obj *unstructured.Unstructured) {
	s.metrics.DropCreated(s.gvk, obj.GetNamespace(), obj.GetName())
}

func keyOf(obj *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// nameOf returns the controller's name in metrics and logs: the old tool's where it is unique.
func nameOf(gvk schema.GroupVersionKind, taken map[string]bool) string {
	name := strings.ToLower(gvk.Kind + "-" + gvk.Version + "-controller")
	if taken[name] {
		name = strings.ToLower(gvk.Kind + "-" + gvk.Version + "-" + gvk.Group + "-controller")
	}
	for unique, n := name, 2; taken[name]; n++ { // watches of one kind
		name = fmt.Sprintf("%s-%d", unique, n)
	}
	taken[name] = true
	return name
}

// start adds a controller for a kind that is served to mgr.
func (r *reconciler) start(mgr manager.Manager, primaries cache.Cache, name string) error {
	filter, err := newChangeFilter(r.Watch, r.selector, r.Log)
	if err != nil {
		return err
	}
	c, err := controller.New(name, mgr, controller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: r.concurrency(),
		CacheSyncTimeout:        forever,
		EnableWarmup:            new(true),
		SkipNameValidation:      new(true), // nameOf sees to it; several operators may share a process
		Logger:                  r.Log,
	})
	if err != nil {
		return fmt.Errorf("make the controller of %s: %w", r.Watch.GVK, err)
	}
	if err := c.Watch(source.Kind(primaries, ofKind(r.Watch.GVK), r.waker.handler(filter, sightings{r.Watch.GVK, r.Metrics}, r.active))); err != nil {
		return fmt.Errorf("watch %s: %w", r.Watch.GVK, err)
	}
	if err := c.Watch(r.waker.source()); err != nil {
		return fmt.Errorf("watch the children of %s: %w", r.Watch.GVK, err)
	}
	return nil
}

func (r *reconciler) concurrency() int {
	if n := r.Watch.MaxConcurrentReconciles; n > 0 {
		return n
	}
	return max(1, r.Defaults.MaxConcurrentReconciles)
}
