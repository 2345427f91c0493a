package runner

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
	"github.com/chartbook-operator/chartbook/runner/internal/dependents"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
	"github.com/chartbook-operator/chartbook/runner/internal/related"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

// access lets the controller open the proxy without knowing it.
type access struct {
	proxy    *proxy.Proxy
	registry *dependents.Registry // nil: children are not watched
}

// Open implements [controller.Access].
func (a access) Open(owner engine.Owner, learn func(map[string]any)) (controller.Session, error) {
	s, err := a.proxy.Open(owner, proxy.Learn(learn))
	if err != nil {
		return nil, err
	}
	primary := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
	return session{s, primary, a.registry}, nil
}

type session struct {
	*proxy.Session
	primary  schema.GroupVersionKind
	registry *dependents.Registry
}

// Close implements [controller.Session].
func (s session) Close() controller.Usage {
	report := s.Session.Close()
	if s.registry != nil {
		s.found(report)
	}
	return controller.Usage{Requests: report.Requests, Writes: report.Writes, Denials: report.Denials}
}

// found passes on what the run made or met of its resource's own. The proxy has told of the kinds already, when they
// first came by; that was at the beginning of the run, and does not say where.
func (s session) found(report proxy.Report) {
	for _, kind := range report.Kinds {
		s.registry.Watch(s.primary, kind)
	}
	for _, write := range report.Writes {
		if !write.Deleted && slices.Contains(report.Kinds, write.GVK) {
			s.registry.Found(s.primary, engine.Child{GVK: write.GVK, Namespace: write.Namespace, Name: write.Name})
		}
	}
}

// children lets the controller use the registry of child watches without knowing it.
type children struct {
	*dependents.Registry
	off   bool   // watchDependentResources: false
	wakes *wakes // of all watches of one kind
}

// wakes are what several watches of one kind want to be told. Each of them knows its own resources.
type wakes struct {
	mu  sync.Mutex
	all []listener
}

// listener is one watch.
type listener struct {
	wake   func(owner types.NamespacedName, why string)
	follow func(child schema.GroupKind) bool // may be nil
}

// add reports whether it was the first.
func (w *wakes) add(l listener) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, l)
	return len(w.all) == 1
}

func (w *wakes) listeners() []listener {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all)
}

func (w *wakes) wake(owner types.NamespacedName, why string) {
	for _, l := range w.listeners() {
		l.wake(owner, why)
	}
}

// follow reports whether one of them follows the status of children of a kind.
func (w *wakes) follow(child schema.GroupKind) bool {
	return slices.ContainsFunc(w.listeners(), func(l listener) bool { return l.follow != nil && l.follow(child) })
}

// OnChange implements [controller.Children].
func (c children) OnChange(p controller.Primary, wake func(owner types.NamespacedName, why string)) {
	if c.off {
		return // the registry watches nothing for a kind that it does not know
	}
	if !c.wakes.add(listener{wake, p.FollowStatus}) {
		return // the registry knows the kind
	}
	c.AddPrimary(dependents.Primary{
		GVK:                p.GVK,
		ClusterScoped:      !p.Namespaced,
		BuiltIn:            status.BuiltIn(p.GVK),
		WatchClusterScoped: p.WatchClusterScoped,
		Blacklist:          p.Blacklist,
		FollowStatus:       c.wakes.follow,
		Wake: func(owner types.NamespacedName, child engine.Child, why dependents.Why) {
			c.wakes.wake(owner, child.GVK.Kind+" "+child.Name+" "+childNews[why])
		},
	})
}

// Unwatched implements [controller.Children]. What is likely to pass is left out.
func (c children) Unwatched(primary schema.GroupVersionKind) []string {
	var out []string
	for _, u := range c.Registry.Unwatched(primary) {
		if u.Reason != dependents.ReasonFailed {
			out = append(out, u.String())
		}
	}
	return out
}

// childNews says in words what happened to a child.
var childNews = map[dependents.Why]string{
	dependents.Edited:        "was changed",
	dependents.Deleted:       "was deleted",
	dependents.StatusChanged: "has another status",
	dependents.Appeared:      "was created",
}

// references lets the controller use the registry of related objects without knowing it.
type references struct{ *related.Watch }

// Resolve implements [controller.Related].
func (r references) Resolve(ctx context.Context, obj *unstructured.Unstructured, deleting bool, learn func(...[]byte)) (controller.References, error) {
	got, err := r.Watch.Resolve(ctx, obj, deleting, learn)
	return controller.References(got), err
}
