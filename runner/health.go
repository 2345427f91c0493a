package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/singleflight"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
)

// How long a readiness probe waits for an engine's answer, and how long the engine may take for it: a slow start of
// ansible-playbook answers a later probe rather than none.
const (
	probeTimeout  = 5 * time.Second
	engineTimeout = 2 * time.Minute
)

// addProbes serves /healthz, which says that the process answers, and /readyz, which says that it can do its work:
// the caches of all kinds that are served are filled and all engines are able to run. A kind that is not served yet
// does not make the process unready, since no restart and no other replica would help.
func addProbes(mgr manager.Manager, controllers []*controller.Controller, configs []controller.Config) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add the health check: %w", err)
	}
	checks := map[string]healthz.Checker{"caches": cachesFilled(controllers), "engines": enginesReady(configs)}
	for name, check := range checks {
		if err := mgr.AddReadyzCheck(name, told(mgr.GetLogger(), name, check)); err != nil {
			return fmt.Errorf("add the readiness check %s: %w", name, err)
		}
	}
	return nil
}

// told logs the outcome of a check whenever it changes: the probe's answer itself withholds the cause.
func told(log logr.Logger, name string, check healthz.Checker) healthz.Checker {
	var mu sync.Mutex
	last := ""
	return func(r *http.Request) error {
		err := check(r)
		now := ""
		if err != nil {
			now = err.Error()
		}
		mu.Lock()
		defer mu.Unlock()
		if now == last {
			return err
		}
		last = now
		if err != nil {
			log.Info("Not ready", "check", name, "cause", now)
		} else {
			log.Info("Ready", "check", name)
		}
		return err
	}
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
	var flights singleflight.Group
	return func(r *http.Request) error {
		ctx := context.WithoutCancel(r.Context()) // the question outlives the probe that asked it first
		answer := flights.DoChan("", func() (any, error) { return nil, askEngines(ctx, configs) })
		select {
		case result := <-answer:
			return result.Err
		case <-r.Context().Done():
			return r.Context().Err()
		case <-time.After(probeTimeout):
			return errors.New("the engines have not answered yet")
		}
	}
}

func askEngines(ctx context.Context, configs []controller.Config) error {
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	for _, c := range configs {
		if err := c.Engine.Ready(ctx); err != nil {
			return fmt.Errorf("%s cannot be run: %w", c.Watch.GVK.Kind, err)
		}
	}
	return nil
}
