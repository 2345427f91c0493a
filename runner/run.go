package runner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
	"github.com/chartbook-operator/chartbook/runner/internal/dependents"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/process"
	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
	"github.com/chartbook-operator/chartbook/runner/internal/related"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// Run runs an operator until ctx is done and its runs have ended. An [InvalidError] says that the options or the watches
// file are wrong and nothing was started.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return &InvalidError{err}
	}
	for _, warning := range o.settle() {
		o.Log.Info("Check the settings", "warning", warning)
	}
	file, err := watches.Load(o.WatchesFile, watches.Options{})
	logWarnings(o, file.Warnings)
	if err != nil {
		return &InvalidError{err}
	}
	if err := preflight(o, hasPlaybooks(file)); err != nil {
		return err
	}
	if os.Getpid() == 1 { // in a container without an init, orphans of playbooks are ours to bury
		go process.Reap(ctx, clock.RealClock{})
	}
	mgr, err := newManager(o)
	if err != nil {
		return err
	}
	engines, err := newEngines(o, mgr.GetRESTMapper(), file)
	if err != nil {
		return err
	}
	servers, err := assemble(mgr, o, file, engines) //nolint:contextcheck // it opens ports, which needs no context
	if err == nil {
		err = start(ctx, mgr, servers)
	}
	if err := errors.Join(err, engines.close()); err != nil { //nolint:contextcheck // the one of the operator has ended
		return fmt.Errorf("run the operator: %w", err)
	}
	return nil
}

// server is something that playbooks talk to.
type server interface {
	Start(ctx context.Context) error
}

// start runs the manager until ctx is done, and what playbooks talk to for as long as there are runs: the
// manager stops what it runs itself before the controllers have ended, and playbooks that may still finish would
// lose the API server.
func start(ctx context.Context, mgr manager.Manager, servers []server) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var group errgroup.Group
	ctx, abort := context.WithCancel(ctx)
	defer abort()
	for _, s := range servers {
		group.Go(func() error {
			defer abort() // without it no playbook can run
			return s.Start(serving)
		})
	}
	group.Go(func() error {
		defer stop()
		return mgr.Start(ctx)
	})
	return group.Wait()
}

// logWarnings tells what is odd about the watches file, each thing once.
func logWarnings(o Options, warnings []watches.Problem) {
	for _, warning := range warnings {
		o.Log.Info("Check the watches file", "warning", warning.String())
	}
}

// assemble adds to the manager all that runs, and returns what playbooks talk to.
func assemble(mgr manager.Manager, o Options, file watches.File, engines *engines) ([]server, error) {
	if o.Registerer == nil {
		o.Registerer = metrics.Registry
	}
	lister, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("make a discovery client: %w", err)
	}
	registry, err := dependents.New(dependents.Config{
		RESTConfig: mgr.GetConfig(), Mapper: mgr.GetRESTMapper(), Namespaces: o.Namespaces, Discovery: lister,
		Log: o.Log.WithName("dependents"),
	})
	if err != nil {
		return nil, fmt.Errorf("prepare watching children: %w", err)
	}
	servers, err := newPlaybookServers(mgr, o, file, registry)
	if err != nil {
		return nil, err
	}
	configs, err := controllerConfigs(o, file, engines, registry, servers, mgr)
	if err != nil {
		return nil, err
	}
	if err := addRelated(mgr, o, configs); err != nil {
		return nil, err
	}
	if engines.releases != nil {
		if err := mgr.Add(engines.releases); err != nil {
			return nil, fmt.Errorf("add the watch on releases: %w", err)
		}
	}
	if o.InjectOwnerRef {
		if err := mgr.Add(registry); err != nil {
			return nil, fmt.Errorf("add the watches on children: %w", err)
		}
	}
	gate := controller.Gate{Discovery: advisedLister{lister}, Mapper: mgr.GetRESTMapper(), Tick: time.After}
	controllers := controller.New(mgr, gate, configs)
	return append(servers.list(), engines.records.follow(controllers, mgr.Elected())...), addControllers(mgr, controllers, configs)
}

// addControllers adds the controllers of all watches, and the probes that tell how they are.
func addControllers(mgr manager.Manager, controllers []*controller.Controller, configs []controller.Config) error {
	for _, c := range controllers {
		if err := mgr.Add(c); err != nil {
			return fmt.Errorf("add a controller: %w", err)
		}
	}
	return addProbes(mgr, controllers, configs)
}

// newPlaybookServers opens what playbooks talk to.
func newPlaybookServers(mgr manager.Manager, o Options, file watches.File, registry *dependents.Registry) (playbookServers, error) {
	api, err := newProxy(mgr, o, file, registry)
	if err != nil {
		return playbookServers{}, err
	}
	reports, err := newReports(o, api != nil)
	servers := playbookServers{api: api, reports: reports}
	if o.InjectOwnerRef {
		servers.children = registry
	}
	return servers, err
}

// hasPlaybooks reports whether a watch has a playbook or role.
func hasPlaybooks(file watches.File) bool {
	return slices.ContainsFunc(file.Watches, func(w watches.Watch) bool { return w.Chart == "" })
}

// addRelated adds the watches on what resources refer to.
func addRelated(mgr manager.Manager, o Options, configs []controller.Config) error {
	registry, err := related.New(related.Config{
		RESTConfig: mgr.GetConfig(), Mapper: mgr.GetRESTMapper(), Log: o.Log.WithName("related"),
	})
	if err != nil {
		return fmt.Errorf("prepare watching related objects: %w", err)
	}
	for i := range configs {
		if configs[i].Watch.Refers() {
			configs[i].Related = references{registry.Watch(configs[i].Watch)}
		}
	}
	if err := mgr.Add(registry); err != nil {
		return fmt.Errorf("add the watches on related objects: %w", err)
	}
	return nil
}

// newProxy makes the API endpoint for playbooks; nil when there are neither playbooks nor sidecars to serve.
func newProxy(mgr manager.Manager, o Options, file watches.File, registry *dependents.Registry) (*proxy.Proxy, error) {
	if !hasPlaybooks(file) && o.Ansible.ProxySidecarPort == 0 {
		return nil, nil
	}
	kinds, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("make a client that watches definitions of kinds: %w", err)
	}
	config := proxy.Config{
		RESTConfig: mgr.GetConfig(), Kinds: kinds, InjectOwner: o.InjectOwnerRef, Port: o.Ansible.ProxyPort,
		SidecarPort: o.Ansible.ProxySidecarPort, Log: o.Log.WithName("proxy"),
	}
	if o.InjectOwnerRef {
		config.Children = registry
	}
	p, err := proxy.New(config)
	if err != nil {
		return nil, fmt.Errorf("open the API endpoint for playbooks: %w", err)
	}
	return p, nil
}

func controllerConfigs(o Options, file watches.File, engines *engines, registry *dependents.Registry, servers playbookServers, mgr manager.Manager) ([]controller.Config, error) {
	measures, err := observe.NewMetrics(o.Registerer, observe.Build{Version: o.Version, Commit: o.Commit})
	if err != nil {
		return nil, err
	}
	if err := o.Registerer.Register(observe.Zygotes(engines.countZygotes)); err != nil {
		return nil, fmt.Errorf("register the operator's metrics: %w", err)
	}
	engines.measures = measures
	slots := o.budget()
	o.Log.Info("Runs at one time are bounded", "max-concurrent-runs", slots.Size())
	configs := make([]controller.Config, len(file.Watches))
	told, turns := map[schema.GroupVersionKind]*wakes{}, map[schema.GroupVersionKind]*controller.Turns{}
	for i, w := range file.Watches {
		measures.AddWatch(w.GVK)
		c := controller.Config{
			Watch:          w,
			Namespaces:     o.Namespaces,
			StatusManifest: o.StatusManifest,

			SuppressOverrideValues: o.SuppressOverrideValues,
			Log:                    o.Log.WithName("controller").WithValues("kind", w.GVK.Kind),
			RunLog:                 o.Log.WithName("runner").WithValues("kind", w.GVK.Kind),
			Clock:                  clock.RealClock{},
			NewID:                  newRunID,
			Events:                 eventRecorder{mgr.GetEventRecorder("chartbook")},
			Metrics:                measures,
			Steps:                  steps(o.Ansible.LogEvents, os.Getenv),
			Budget:                 slots,
			Random:                 rand.Float64,
			Defaults: controller.Defaults{
				Timeout:                 o.RunTimeout,
				MaxConcurrentReconciles: o.MaxConcurrentReconciles,
				Grace:                   shareOf(o.GracefulShutdownTimeout),
			},
		}
		if o.InjectOwnerRef {
			c.Children = children{registry, !w.WatchDependentResources, shared(told, w.GVK)}
		}
		if len(w.Siblings) > 0 {
			c.Turns = shared(turns, w.GVK)
		}
		if err := engines.configure(w, &c); err != nil {
			return nil, &InvalidError{err}
		}
		if w.Chart == "" {
			servers.serve(&c)
		}
		configs[i] = c
	}
	return configs, nil
}

// shared returns what all watches of a kind have in common.
func shared[T any](all map[schema.GroupVersionKind]*T, gvk schema.GroupVersionKind) *T {
	if all[gvk] == nil {
		all[gvk] = new(T)
	}
	return all[gvk]
}

// shareOf is how much of the time for a graceful end runs get; the rest is for writing down that they were ended.
func shareOf(grace time.Duration) time.Duration { return grace / 4 * 3 }
