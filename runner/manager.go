package runner

import (
	"crypto/tls"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// newManager makes the manager that all controllers share.
func newManager(o Options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register the built-in kinds: %w", err)
	}
	mgr, err := manager.New(o.RESTConfig, manager.Options{
		Scheme:                        scheme,
		Logger:                        o.Log,
		Metrics:                       metricsServer(o),
		HealthProbeBindAddress:        o.HealthProbeAddress,
		LeaderElection:                o.LeaderElection.Enabled,
		LeaderElectionID:              o.LeaderElection.ID,
		LeaderElectionNamespace:       o.LeaderElection.Namespace,
		LeaderElectionReleaseOnCancel: true, // the process ends right after the manager
		LeaseDuration:                 &o.LeaderElection.LeaseDuration,
		RenewDeadline:                 &o.LeaderElection.RenewDeadline,
		GracefulShutdownTimeout:       &o.GracefulShutdownTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	return mgr, nil
}

func metricsServer(o Options) metricsserver.Options {
	options := metricsserver.Options{BindAddress: o.Metrics.Address, SecureServing: o.Metrics.Secure}
	if o.Metrics.RequireRBAC {
		options.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	if !o.EnableHTTP2 {
		options.TLSOpts = append(options.TLSOpts, func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} })
	}
	return options
}
