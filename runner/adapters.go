package runner

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
	"github.com/chartbook-operator/chartbook/runner/internal/dependents"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
)

// access lets the controller open the proxy without knowing it.
type access struct{ proxy *proxy.Proxy }

// Open implements [controller.Access].
func (a access) Open(owner engine.Owner) (controller.Session, error) {
	s, err := a.proxy.Open(owner)
	if err != nil {
		return nil, err
	}
	return session{s}, nil
}

type session struct{ *proxy.Session }

// Close implements [controller.Session].
func (s session) Close() controller.Usage {
	report := s.Session.Close()
	return controller.Usage{Requests: report.Requests, Writes: report.Writes, Denials: report.Denials}
}

// children lets the controller use the registry of child watches without knowing it.
type children struct{ *dependents.Registry }

// Complete implements [controller.Children].
func (c children) Complete(primary schema.GroupVersionKind) bool {
	return len(c.Unwatched(primary)) == 0
}

// OnChange implements [controller.Children].
func (c children) OnChange(p controller.Primary, wake func(owner types.NamespacedName, why string)) {
	c.AddPrimary(dependents.Primary{
		GVK:                p.GVK,
		ClusterScoped:      !p.Namespaced,
		WatchClusterScoped: p.WatchClusterScoped,
		Blacklist:          p.Blacklist,
		FollowStatus:       p.FollowStatus,
		Wake: func(owner types.NamespacedName, child engine.Child, why dependents.Why) {
			wake(owner, child.GVK.Kind+" "+child.Name+" "+childNews[why])
		},
	})
}

// childNews says in words what happened to a child.
var childNews = map[dependents.Why]string{
	dependents.Edited:        "was changed",
	dependents.Deleted:       "was deleted",
	dependents.StatusChanged: "has another status",
	dependents.Appeared:      "was created",
}

// watchable is the registry as the proxy sees it.
type watchable struct {
	registry *dependents.Registry
	off      map[schema.GroupVersionKind]bool // primaries with watchDependentResources: false
}

// Watch implements [proxy.Children].
func (w watchable) Watch(primary, child schema.GroupVersionKind) {
	if !w.off[primary] {
		w.registry.Watch(primary, child)
	}
}
