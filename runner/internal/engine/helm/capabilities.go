package helm

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
)

// capabilitiesAge is how long the cluster's version and kinds are taken for granted. New kinds can be announced
// earlier by Invalidate.
const capabilitiesAge = 10 * time.Minute

// Capabilities remembers what the cluster can do, for charts that ask. It is safe for concurrent use.
type Capabilities struct {
	clock clock.PassiveClock
	stale atomic.Bool
	lock  chan struct{} // held by whoever has put something in; waiting for it can be given up

	known   *chartutil.Capabilities
	fetched time.Time
}

// NewCapabilities returns a memory that knows nothing yet.
func NewCapabilities(clock clock.PassiveClock) *Capabilities {
	return &Capabilities{clock: clock, lock: make(chan struct{}, 1)}
}

// Invalidate forgets what is known, since a CRD has appeared or gone.
func (c *Capabilities) Invalidate() { c.stale.Store(true) }

// get returns a copy of what the cluster can do. Concurrent callers wait for one answer.
func (c *Capabilities) get(ctx context.Context, g *getter) (*chartutil.Capabilities, error) {
	select {
	case c.lock <- struct{}{}:
		defer func() { <-c.lock }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the cluster's capabilities: %w", ctx.Err())
	}
	if c.stale.Swap(false) {
		c.known = nil
	}
	if c.known == nil || c.clock.Since(c.fetched) > capabilitiesAge {
		known, err := fetchCapabilities(g)
		if err != nil {
			return nil, err
		}
		c.known, c.fetched = known, c.clock.Now()
	}
	return c.known.Copy(), nil
}

func fetchCapabilities(g *getter) (*chartutil.Capabilities, error) {
	client, err := discovery.NewDiscoveryClientForConfig(g.config)
	if err != nil {
		return nil, fmt.Errorf("make a discovery client: %w", err)
	}
	version, err := client.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("ask the API server for its version: %w", err)
	}
	// An aggregated API that is down leaves its group out and gives an error that says so; the rest is valid.
	kinds, err := action.GetVersionSet(client)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("ask the API server for its kinds: %w", err)
	}
	slices.Sort(kinds)
	return &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{Version: version.GitVersion, Major: version.Major, Minor: version.Minor},
		APIVersions: kinds,
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}, nil
}
