package runner

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/netip"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
	"github.com/chartbook-operator/chartbook/runner/internal/dependents"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
	"github.com/chartbook-operator/chartbook/runner/internal/usermetrics"
)

// playbookServers are what playbooks talk to.
type playbookServers struct {
	api      *proxy.Proxy         // nil without playbooks
	reports  *reports             // nil without playbooks, and when switched off
	children *dependents.Registry // nil when children are not watched
}

func (s playbookServers) list() []server {
	var list []server
	if s.api != nil {
		list = append(list, s.api)
	}
	if s.reports != nil {
		list = append(list, s.reports)
	}
	return list
}

// serve opens them to the runs of a controller.
func (s playbookServers) serve(c *controller.Config) {
	c.Access = access{s.api, s.children}
	if s.reports == nil {
		return
	}
	c.UserMetrics = s.reports
	forget := c.Forget
	c.Forget = func(owner engine.Owner) {
		if forget != nil {
			forget(owner)
		}
		s.reports.store.Forget(owner)
	}
}

// reports is where playbooks report metrics to.
type reports struct {
	*usermetrics.Endpoint
	store *usermetrics.Store
	log   logr.Logger
}

// newReports opens the endpoint for metrics of playbooks; nil when there are no playbooks or it is switched off.
func newReports(o Options, playbooks bool) (*reports, error) {
	if !playbooks || isOff(o.Metrics.UserAddress) {
		return nil, nil
	}
	store, err := usermetrics.NewStore(o.Registerer, clock.RealClock{})
	if err != nil {
		return nil, err
	}
	r := &reports{store: store, log: o.Log.WithName("user-metrics")}
	r.Endpoint, err = usermetrics.New(usermetrics.Config{
		Store: store, Address: o.Metrics.UserAddress, NewToken: rand.Text, Log: r.log,
	})
	if err != nil {
		return nil, fmt.Errorf("%w; choose another address with --user-metrics-bind-address", err)
	}
	if taken := r.Fallback(); taken != nil {
		r.log.Info("Metrics of playbooks are taken in at runs' own URLs only", "cause", taken.Error())
	}
	return r, nil
}

// Start takes in metrics until ctx is done. That they cannot be taken in is no reason to stop the operator.
func (r *reports) Start(ctx context.Context) error {
	if err := r.Endpoint.Start(ctx); err != nil {
		r.log.Error(err, "Metrics of playbooks are not taken in any more")
		<-ctx.Done()
	}
	return nil
}

func isOff(address string) bool { return address == "" || address == "0" }

// isLoopback reports whether an address with a port can be reached from this machine only.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.IsLoopback())
}
