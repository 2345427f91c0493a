package runner

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
)

// probeTimeout bounds what one readiness probe may take.
const probeTimeout = 5 * time.Second

// addProbes serves /healthz, which says that the process answers, and /readyz, which says that it can do its work:
// the caches of all kinds that are served are filled and all engines are able to run. A kind that is not served yet
// does not make the process unready, since no restart and no other replica would help.
func addProbes(mgr manager.Manager, controllers []*controller.Controller, configs []controller.Config) error {
	checks := map[string]healthz.Checker{"caches": cachesFilled(controllers), "engines": enginesReady(configs)}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add the health check: %w", err)
	}
	for name, check := range checks {
		if err := mgr.AddReadyzCheck(name, check); err != nil {
			return fmt.Errorf("add the readiness check %s: %w", name, err)
		}
	}
	return nil
}

func cachesFilled(controllers []*controller.Controller) healthz.Checker {
	return func(*http.Request) error {
		var unsynced []string
		for _, c := range controllers {
			if s := c.State(); !s.Missing && !s.Synced {
				unsynced = append(unsynced, s.Kind)
			}
		}
		if len(unsynced) > 0 {
			return fmt.Errorf("resources are not read yet: %s", strings.Join(unsynced, ", "))
		}
		return nil
	}
}

func enginesReady(configs []controller.Config) healthz.Checker {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
		defer cancel()
		for _, c := range configs {
			if err := c.Engine.Ready(ctx); err != nil {
				return fmt.Errorf("%s cannot be run: %w", c.Watch.GVK.Kind, err)
			}
		}
		return nil
	}
}
