package dependents

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Config is what a [Registry] needs.
type Config struct {
	// RESTConfig leads to the API server.
	RESTConfig *rest.Config
	// Mapper tells the resource and scope of kinds.
	Mapper meta.RESTMapper
	// Namespaces are those to look into. Empty means all. Cluster-scoped children are watched in any case.
	Namespaces []string
	// Discovery lists the API server's resources, among which children of earlier processes are looked for after
	// the start. Nil: they are not looked for.
	Discovery Discovery
	// Log gets a line for each kind that is watched and for each that cannot be.
	Log logr.Logger
	// Clock is for tests. Default: the system's.
	Clock clock.WithTicker
}

// Registry knows the children of all primary resources. It is safe for concurrent use.
type Registry struct {
	rest       rest.Interface
	client     dynamic.Interface
	finder     *finder // nil: children of earlier processes are not looked for
	mapper     meta.RESTMapper
	namespaces []string
	log        logr.Logger
	clock      clock.WithTicker
	background sync.WaitGroup // goroutines of watched kinds and others
	added      chan struct{}  // has a value when there are unsought primaries

	mu        sync.Mutex
	begin     func(*kind) // starts the goroutine of a kind; nil before and after the time of Start
	primaries map[schema.GroupVersionKind]*Primary
	unsought  []*Primary // whose earlier children have not been looked for
	watched   map[schema.GroupKind]*kind
	outside   map[place]Unwatched
	runs      map[ownerKey]*run
	own       ownWrites
}

// New returns a registry. It watches nothing before it is started.
func New(config Config) (*Registry, error) {
	client, err := newRESTClient(config.RESTConfig)
	if err != nil {
		return nil, fmt.Errorf("make a client for child watches: %w", err)
	}
	r := &Registry{
		rest:       client,
		client:     dynamic.New(client),
		mapper:     config.Mapper,
		namespaces: config.Namespaces,
		log:        config.Log,
		clock:      config.Clock,
		added:      make(chan struct{}, 1),
		primaries:  map[schema.GroupVersionKind]*Primary{},
		watched:    map[schema.GroupKind]*kind{},
		outside:    map[place]Unwatched{},
		runs:       map[ownerKey]*run{},
	}
	if r.clock == nil {
		r.clock = clock.RealClock{}
	}
	if config.Discovery != nil {
		if r.finder, err = newFinder(r, config); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// newRESTClient returns the client below the dynamic one.
func newRESTClient(config *rest.Config) (*rest.RESTClient, error) {
	config = dynamic.ConfigFor(config)
	config.GroupVersion = &schema.GroupVersion{}
	config.APIPath = "/" // requests bring their whole path
	withoutWarnings(config)
	return rest.RESTClientFor(config)
}

// withoutWarnings keeps the API server's warnings, which say that a kind is deprecated, out of the process's stderr. They
// have reached the run that made such an object.
func withoutWarnings(config *rest.Config) {
	config.WarningHandler, config.WarningHandlerWithContext = rest.NoWarnings{}, nil
}

// Start watches until ctx is done and returns when all watches have ended. Watches that were asked for before
// start now. Its error is always nil.
func (r *Registry) Start(ctx context.Context) error {
	r.open(func(k *kind) {
		ctx, stop := context.WithCancel(ctx)
		k.stop = stop
		r.background.Go(func() { defer stop(); k.run(ctx) })
	})
	r.background.Go(func() { r.dropIdle(ctx) })
	if r.finder != nil {
		r.background.Go(func() { r.finder.run(ctx) })
	}
	<-ctx.Done()
	r.open(nil)
	r.background.Wait()
	return nil
}

// open starts (or, with nil, ends) the time in which watches begin.
func (r *Registry) open(begin func(*kind)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin = begin
	for _, k := range r.watched {
		r.launch(k)
	}
}

// NeedLeaderElection says that only the leader watches: nobody else runs anything that could be woken.
func (r *Registry) NeedLeaderElection() bool { return true }

// AddPrimary makes the registry wake resources of a kind. It must be called before the first Watch for the kind.
func (r *Registry) AddPrimary(primary Primary) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.primaries[primary.GVK] = &primary
	r.unsought = append(r.unsought, &primary)
	notify(r.added)
}

// Watch makes changes of children of one kind wake their owners of the other. It returns at once; the watch itself
// is begun in the background and kept up, however often it fails (see [Registry.Unwatched]), until there has been no
// such child for a while (see idle.go). Calling it again changes nothing but that the while begins anew. It does
// nothing for a primary kind that was not added, or that has child blacklisted.
func (r *Registry) Watch(primary, child schema.GroupVersionKind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.primaries[primary]
	if p == nil || !p.admits(child) {
		return
	}
	k := r.watched[child.GroupKind()]
	if k == nil {
		r.log.Info("Watching children", "child", child.String(), "primary", primary.String())
		k = newKind(r, child)
		r.watched[child.GroupKind()] = k
		r.launch(k)
	}
	k.subscribe(p)
}

// Found is [Registry.Watch] for one child that a run made or met. Only it can tell if the child is in a namespace
// that is not watched.
func (r *Registry) Found(primary schema.GroupVersionKind, child engine.Child) {
	r.Watch(primary, child.GVK)
	r.noteOutside(primary, child)
}

// launch starts the goroutine of a kind, if the registry runs. The lock must be held.
func (r *Registry) launch(k *kind) {
	if r.begin != nil {
		r.begin(k)
	}
}
