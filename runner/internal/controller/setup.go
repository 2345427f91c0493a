package controller

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/journal"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/once"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
)

// Controller is the controller of one watch. It is added to a manager, waits for its kind to be served and then starts.
type Controller struct {
	config Config
	name   string
	mgr    manager.Manager
	gate   Gate

	mu      sync.Mutex
	waiting string // what it waits for; empty when it has started
	missing bool   // the API server has said that it does not serve the kind
	synced  func() bool
	outlook func() []journal.Record
}

// New returns the controllers of watches, one for each config, to be added to mgr.
func New(mgr manager.Manager, gate Gate, configs []Config) []*Controller {
	taken := map[string]bool{}
	controllers := make([]*Controller, len(configs))
	for i, config := range configs {
		controllers[i] = &Controller{
			config: config, mgr: mgr, gate: gate, name: nameOf(config.Watch.GVK, taken),
			waiting: "the API server's answer",
		}
	}
	return controllers
}

// NeedLeaderElection lets replicas that do not lead fill their caches, so that they can take over at once.
func (c *Controller) NeedLeaderElection() bool { return false }

// Start waits for the kind and starts the controller proper. It returns when ctx is done.
func (c *Controller) Start(ctx context.Context) error {
	gvk := c.config.Watch.GVK
	served, ended := c.gate.Wait(ctx, gvk, func(reason string, missing bool) {
		c.setWaiting(reason, missing)
		c.config.Log.Info("Waiting for a kind", "group", gvk.Group, "version", gvk.Version, "reason", reason)
	})
	if ended != nil {
		return nil //nolint:nilerr // the process ends while it waits, which is no error
	}
	if err := c.launch(ctx, served); err != nil {
		return fmt.Errorf("start watching %s: %w", gvk, err)
	}
	c.setWaiting("", false)
	c.config.Log.Info("Watching a kind", "group", gvk.Group, "version", gvk.Version, "controller", c.name)
	<-ctx.Done()
	return nil
}

// launch makes the cache and the reconciler of a kind that is served.
func (c *Controller) launch(ctx context.Context, served Served) error {
	told := newWatchErrors(c.config.Log)
	selector, err := metav1.LabelSelectorAsSelector(&c.config.Watch.Selector)
	if err != nil {
		return fmt.Errorf("read the selector: %w", err)
	}
	primaries, err := newPrimaryCache(c.mgr, c.config.Watch, selector, c.config.Namespaces, told)
	if err != nil {
		return err
	}
	if err := c.mgr.Add(everywhere{primaries}); err != nil {
		return fmt.Errorf("add the cache: %w", err)
	}
	r := newReconciler(c.config, c.mgr, primaries, selector, served)
	if err := r.start(c.mgr, primaries, c.name); err != nil {
		return err
	}
	c.mu.Lock()
	c.outlook = r.outlook
	c.mu.Unlock()
	return c.observe(ctx, primaries)
}

// Outlook returns the runs that wait and those that come by themselves, in no order.
func (c *Controller) Outlook() []journal.Record {
	c.mu.Lock()
	outlook := c.outlook
	c.mu.Unlock()
	if outlook == nil {
		return nil
	}
	return outlook()
}

// everywhere runs a cache in every replica, the leader's or not. A cache of several namespaces does not say so itself.
type everywhere struct{ cache.Cache }

// NeedLeaderElection implements [manager.LeaderElectionRunnable].
func (everywhere) NeedLeaderElection() bool { return false }

// observe remembers how to tell that the cache is filled.
func (c *Controller) observe(ctx context.Context, primaries cache.Cache) error {
	informer, err := primaries.GetInformer(ctx, ofKind(c.config.Watch.GVK), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("make the informer: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.synced = informer.HasSynced
	return nil
}

func newReconciler(config Config, mgr manager.Manager, primaries cache.Cache, selector labels.Selector, served Served) *reconciler {
	notes, waits := newNotes(), newWaits()
	r := &reconciler{
		Config: config, Client: mgr.GetClient(), Live: mgr.GetAPIReader(),
		selector: selector, siblings: siblingsOf(config.Watch, selector),
		reader: newReader(config.Watch.GVK, primaries),
		notes:  notes, waker: &waker{notes: notes, waits: waits, now: config.Clock.Now}, waits: waits, lobby: newLobby(),
		status:   &status.Writer{Store: status.ClientStore{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}},
		denials:  &denialLog{},
		told:     &once.Texts{},
		active:   newActiveRuns(),
		episodes: map[types.NamespacedName]*episode{},
	}
	if config.Related == nil {
		r.Related = noRelated{}
	}
	r.Related.OnChange(func(key types.NamespacedName) { r.waker.wake(key, engine.TriggerRelated) })
	if config.OnForeignChange != nil {
		config.OnForeignChange(r.wakeDependent)
	}
	if config.Children != nil {
		primary := Primary{
			GVK: config.Watch.GVK, Namespaced: served.Namespaced,
			WatchClusterScoped: config.Watch.WatchClusterScopedResources, Blacklist: config.Watch.Blacklist,
			FollowStatus: followsStatus(statusesOf(config.Watch)),
		}
		config.Children.OnChange(primary, r.wakeDependent)
	}
	return r
}

// wakeDependent runs a resource since something that belongs to it was changed.
func (r *reconciler) wakeDependent(key types.NamespacedName, why string) {
	r.waker.tell(key, news{trigger: engine.TriggerDependent, sentence: why})
	r.waker.wake(key, engine.TriggerDependent)
}

func (c *Controller) setWaiting(reason string, missing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting, c.missing = reason, missing
	state := observe.WatchWaiting
	if reason == "" {
		state = observe.WatchWorking
	}
	c.config.Metrics.SetWatchState(c.config.Watch.GVK, state)
}

// State says how far the controller is.
type State struct {
	Kind    string `json:"kind"`    // kind.version.group
	Waiting string `json:"waiting"` // what it waits for; empty when it works
	Missing bool   `json:"missing"` // the API server does not serve the kind
	Synced  bool   `json:"synced"`  // its cache is filled
}

// State returns how far the controller is.
func (c *Controller) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	gvk := c.config.Watch.GVK
	s := State{Kind: fmt.Sprintf("%s.%s.%s", gvk.Kind, gvk.Version, gvk.Group), Waiting: c.waiting, Missing: c.missing}
	if s.Waiting == "" && c.synced != nil {
		s.Synced = c.synced()
	}
	return s
}
