package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// KindPollInterval is how often the API server is asked for a kind that it does not serve yet: one small request,
// and soon enough after a CRD was installed.
const KindPollInterval = 3 * time.Second

// Gate waits for kinds to be served: a watch whose CRD is missing starts when the CRD appears, and the others do not
// wait for it.
type Gate struct {
	Discovery KindLister
	Mapper    meta.RESTMapper
	// Tick returns a channel that says when to ask again.
	Tick func(time.Duration) <-chan time.Time
}

// KindLister lists the kinds of a group and version; a discovery client does.
type KindLister interface {
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

// Served describes a kind that the API server serves.
type Served struct {
	Namespaced bool
	HasStatus  bool // the kind has the status subresource
}

// Wait returns when gvk is served. While it is not, waiting is told once why,
// and whether the API server itself said that the kind is missing. It returns an error only when ctx is done.
func (g Gate) Wait(ctx context.Context, gvk schema.GroupVersionKind, waiting func(reason string, absent bool)) (Served, error) {
	told := ""
	for {
		served, reason := g.look(ctx, gvk)
		absent := reason == missing(gvk)
		if reason == "" {
			return served, nil
		}
		if reason != told {
			told = reason
			waiting(reason, absent)
		}
		select {
		case <-ctx.Done():
			return Served{}, fmt.Errorf("wait for %s to be served: %w", gvk, ctx.Err())
		case <-g.Tick(KindPollInterval):
		}
	}
}

// look asks the API server once; reason says why the kind cannot be watched yet.
func (g Gate) look(ctx context.Context, gvk schema.GroupVersionKind) (served Served, reason string) {
	resources, err := g.Discovery.ServerResourcesForGroupVersionWithContext(ctx, gvk.GroupVersion().String())
	switch {
	case apierrors.IsNotFound(err):
		return Served{}, missing(gvk)
	case err != nil:
		return Served{}, fmt.Sprintf("cannot ask the API server for %s: %v", gvk.GroupVersion(), err)
	}
	plural := ""
	for _, r := range resources.APIResources {
		if r.Kind == gvk.Kind && r.Name != "" && !isSubresource(r.Name) {
			plural, served.Namespaced = r.Name, r.Namespaced
		}
	}
	if plural == "" {
		return Served{}, missing(gvk)
	}
	for _, r := range resources.APIResources {
		served.HasStatus = served.HasStatus || r.Name == plural+"/status"
	}
	// The mapper may have looked before the CRD was there and must not remember that.
	meta.MaybeResetRESTMapper(g.Mapper)
	if _, err := g.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version); err != nil {
		return Served{}, fmt.Sprintf("cannot map %s: %v", gvk, err)
	}
	return served, ""
}

func missing(gvk schema.GroupVersionKind) string {
	return fmt.Sprintf("the API server does not serve %s in %s; install its CRD", gvk.Kind, gvk.GroupVersion())
}

func isSubresource(name string) bool { return strings.Contains(name, "/") }
