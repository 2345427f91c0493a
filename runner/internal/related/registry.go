package related

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
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
	// Log gets a line for each kind that cannot be watched.
	Log logr.Logger
	// Clock is for tests. Default: the system's.
	Clock clock.WithTicker
}

// Registry follows what resources refer to. It is safe for concurrent use.
type Registry struct {
	reader  reader
	log     logr.Logger
	clock   clock.WithTicker
	running sync.WaitGroup // goroutines of streams

	mu      sync.Mutex
	begin   func(*stream) // starts the goroutine of a stream; nil before and after the time of Start
	owners  map[ownerKey]*owner
	places  map[place]*users
	streams map[streamKey]*stream
	told    map[place]string // what was said last about a watch that failed
}

// ownerKey is a resource that refers to something.
type ownerKey struct {
	watch *Watch
	name  types.NamespacedName
}

// owner is what is kept of such a resource.
type owner struct {
	links   []*link
	running bool // a run is active, at whose end the links are looked at
}

// New returns a registry. It follows nothing before it is started.
func New(config Config) (*Registry, error) {
	client, err := dynamic.NewForConfig(config.RESTConfig)
	if err != nil {
		return nil, fmt.Errorf("make a client for related objects: %w", err)
	}
	r := &Registry{
		reader: reader{client: client, mapper: config.Mapper}, log: config.Log, clock: config.Clock,
		owners: map[ownerKey]*owner{}, places: map[place]*users{}, streams: map[streamKey]*stream{}, told: map[place]string{},
	}
	if r.clock == nil {
		r.clock = clock.RealClock{}
	}
	return r, nil
}

// Start follows objects until ctx is done and returns when all watches have ended. Its error is always nil.
func (r *Registry) Start(ctx context.Context) error {
	r.open(func(s *stream) {
		ctx, cancel := context.WithCancel(ctx)
		s.cancel = cancel
		r.running.Go(func() { s.run(ctx) })
	})
	<-ctx.Done()
	r.open(nil)
	r.running.Wait()
	return nil
}

// open starts (or, with nil, ends) the time in which watches begin.
func (r *Registry) open(begin func(*stream)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin = begin
	if begin == nil {
		return
	}
	for _, s := range r.streams {
		begin(s)
	}
}

// NeedLeaderElection says that only the leader follows objects: nobody else runs anything that could be woken.
func (r *Registry) NeedLeaderElection() bool { return true }

// OnChange registers what to do when an object that a resource refers to has changed. It must not block.
func (w *Watch) OnChange(wake func(types.NamespacedName)) {
	w.registry.mu.Lock()
	defer w.registry.mu.Unlock()
	w.wake = wake
}

// Forget drops what is known of a resource that is gone.
func (w *Watch) Forget(name types.NamespacedName) {
	w.registry.mu.Lock()
	defer w.registry.mu.Unlock()
	key := ownerKey{w, name}
	if o := w.registry.owners[key]; o != nil {
		w.registry.disconnect(o.links)
		delete(w.registry.owners, key)
	}
}

// Complete reports whether all that a resource refers to is known and watched, so that a change of it would be noticed.
func (w *Watch) Complete(name types.NamespacedName) bool {
	w.registry.mu.Lock()
	defer w.registry.mu.Unlock()
	o := w.registry.owners[ownerKey{w, name}]
	return o != nil && !slices.ContainsFunc(o.links, func(l *link) bool {
		return l.stream == nil || !l.stream.synced || l.stream.broken
	})
}

// BeginRun says that a run of a resource starts. What it changes itself wakes nobody; what others change meanwhile wakes the
// resource when the run has ended.
func (w *Watch) BeginRun(name types.NamespacedName) {
	w.registry.mu.Lock()
	defer w.registry.mu.Unlock()
	if o := w.registry.owners[ownerKey{w, name}]; o != nil {
		o.running = true
	}
}

// EndRun says that the run is over, and what it wrote.
func (w *Watch) EndRun(name types.NamespacedName, writes []engine.Write) {
	key := ownerKey{w, name}
	changed := func() bool {
		w.registry.mu.Lock()
		defer w.registry.mu.Unlock()
		o := w.registry.owners[key]
		if o == nil {
			return false
		}
		o.running = false
		for _, l := range o.links {
			l.wrote(writes)
		}
		return o.changed()
	}()
	if changed {
		w.fire(name)
	}
}

func (w *Watch) fire(name types.NamespacedName) {
	w.registry.mu.Lock()
	wake := w.wake
	w.registry.mu.Unlock()
	if wake != nil {
		wake(name)
	}
}

// changed reports whether anything that the owner refers to is not as it was seen last. It counts as seen then.
func (o *owner) changed() bool {
	changed := false
	for _, l := range o.links {
		changed = l.changed() || changed
	}
	return changed
}

// follow takes note of what a resource refers to now.
func (r *Registry) follow(w *Watch, name types.NamespacedName, references []reference) {
	key := ownerKey{w, name}
	changed := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		o := r.owners[key]
		if o == nil {
			o = &owner{}
			r.owners[key] = o
		}
		before := o.links
		o.links = nil
		for _, reference := range references {
			if !o.has(reference) {
				o.links = append(o.links, newLink(key, reference))
			}
		}
		r.connect(o.links)
		r.disconnect(before)
		return o.changed()
	}()
	if changed {
		w.fire(name)
	}
}

// has reports whether a link to the same target is there. One that also looks at the status does for both.
func (o *owner) has(r reference) bool {
	for _, l := range o.links {
		if l.target == r.target {
			l.status = l.status || r.status
			return true
		}
	}
	return false
}

// place is a kind in a namespace.
type place struct {
	gvk       schema.GroupVersionKind
	namespace string
}

// said reports whether something is news about a place. The lock must be held.
func (r *Registry) said(p place, what string) bool {
	known := r.told[p] == what
	r.told[p] = what
	return !known
}
