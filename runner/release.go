package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/chartbook-operator/chartbook/runner/internal/release"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// ReleaseOptions are the settings of a [Releaser].
type ReleaseOptions struct {
	// WatchesFile is the path of watches.yaml, which says what is watched and held.
	WatchesFile string
	// RESTConfig says how to reach the API server.
	RESTConfig *rest.Config
	// Namespaces to look into; empty means all, and resources without a namespace, too.
	Namespaces []string
	// Kinds to look at, like Database or Database.example.com; empty means all of the watches file.
	Kinds []string
}

// Releaser lets go of the resources of an operator that is to be removed.
type Releaser struct {
	cluster release.Cluster
	kinds   []release.Kind
}

// HeldResource is a resource that has finalizers of the operator.
type HeldResource struct {
	Kind, Group, Namespace, Name string
	// Finalizers of the operator, and those of others, which stay.
	Finalizers, Others []string
	// Deleting says that the resource goes as soon as nothing holds it.
	Deleting bool

	held release.Held
}

// NewReleaser returns a releaser. An [InvalidError] says that the options or the watches file are wrong.
func NewReleaser(o ReleaseOptions) (*Releaser, error) {
	file, err := watches.Load(o.WatchesFile, watches.Options{})
	if err != nil {
		return nil, &InvalidError{err}
	}
	kinds, err := heldKinds(file, o.Kinds)
	if err != nil {
		return nil, &InvalidError{err}
	}
	httpClient, err := rest.HTTPClientFor(o.RESTConfig)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(o.RESTConfig, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	client, err := metadata.NewForConfigAndClient(o.RESTConfig, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return &Releaser{cluster: release.Cluster{Metadata: client, Mapper: mapper, Namespaces: o.Namespaces}, kinds: kinds}, nil
}

// heldKinds returns the kinds that the operator puts finalizers on, of those that were asked for.
func heldKinds(file watches.File, asked []string) ([]release.Kind, error) {
	var kinds []release.Kind
	known := map[string]bool{}
	for _, w := range file.Watches {
		names := []string{strings.ToLower(w.GVK.Kind), strings.ToLower(w.GVK.GroupKind().String())}
		known[names[0]], known[names[1]] = true, true
		wanted := len(asked) == 0 || slices.ContainsFunc(asked, func(kind string) bool { return slices.Contains(names, strings.ToLower(kind)) })
		finalizers := finalizersOf(w)
		if !wanted || len(finalizers) == 0 {
			continue
		}
		if i := slices.IndexFunc(kinds, func(k release.Kind) bool { return k.GVK == w.GVK }); i >= 0 { // of another watch
			kinds[i].Finalizers = slices.Compact(slices.Sorted(slices.Values(append(finalizers, kinds[i].Finalizers...))))
			continue
		}
		kinds = append(kinds, release.Kind{GVK: w.GVK, Finalizers: finalizers})
	}
	for _, kind := range asked {
		if !known[strings.ToLower(kind)] {
			return nil, fmt.Errorf("the watches file has no kind %s", kind)
		}
	}
	return kinds, nil
}

// finalizersOf returns the names that hold a resource until it is cleaned up. The first is put on new resources, the others
// are those of older tools and only taken off.
func finalizersOf(w watches.Watch) []string {
	switch {
	case w.Chart != "":
		return releaseFinalizers
	case w.Finalizer != nil:
		return []string{w.Finalizer.Name}
	}
	return nil
}

// Find tells of each resource that is held, while it looks through the cluster. It returns the kinds that the API server
// does not serve, of which there are no resources.
func (r *Releaser) Find(ctx context.Context, tell func(HeldResource)) (missing []string, err error) {
	for _, kind := range r.kinds {
		served, err := r.cluster.Find(ctx, kind, func(h release.Held) {
			tell(HeldResource{
				Kind: h.GVK.Kind, Group: h.GVK.Group, Namespace: h.Namespace, Name: h.Name,
				Finalizers: h.On, Others: h.Others, Deleting: h.Deleting, held: h,
			})
		})
		if err != nil {
			return missing, err
		}
		if !served {
			missing = append(missing, kind.GVK.GroupKind().String())
		}
	}
	return missing, nil
}

// Release takes the operator's finalizers off a resource, without cleaning up after it. Other finalizers stay. An operator
// that still runs puts them on again.
func (r *Releaser) Release(ctx context.Context, h HeldResource) error {
	return release.Release(ctx, h.held)
}
