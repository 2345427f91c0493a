package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/kube"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
)

// pollInterval is how often the start looks whether the next step is due.
const pollInterval = 25 * time.Millisecond

// boot brings the cluster up, step by step.
func (s *Supervisor) boot(parent context.Context) error {
	ctx, abort := context.WithCancelCause(parent)
	defer abort(nil)
	s.abort = abort
	ctx, cancel := context.WithTimeoutCause(ctx, s.Wait, fmt.Errorf("not ready after %s", s.Wait))
	defer cancel()

	if err := Sweep(s.Dir, s.table); err != nil {
		return err
	}
	secrets, err := s.prepare(ctx)
	if err != nil {
		return err
	}
	client, err := secrets.client(s.ports.Server())
	if err != nil {
		return err
	}
	s.begun = true
	return s.bringUp(ctx, client, secrets)
}

// bringUp starts the components. The controllers wait for a ready API server, although it serves before that: the
// controller manager gives up on one that is slow to become healthy, and on a busy machine it is.
func (s *Supervisor) bringUp(ctx context.Context, client *kube.Client, secrets *secrets) error {
	steps := []func() error{
		func() error { return s.startAll(plan.Store(s.ports)) },
		func() error { return s.await(ctx, "API server", client.ServerReady) },
		func() error { return s.startAll(plan.Controllers()) },
		func() error { return seed(ctx, client, s.Nodes) },
		func() error {
			return s.await(ctx, "nodes", func(ctx context.Context) error { return client.NodesReady(ctx, s.Nodes) })
		},
		func() error { return s.await(ctx, "service accounts", client.DefaultAccount) },
		func() error { return s.open(secrets) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes everything that components need before they start.
func (s *Supervisor) prepare(ctx context.Context) (*secrets, error) {
	if err := s.reserve(ctx); err != nil {
		return nil, err
	}
	if err := s.Dir.Prepare(); err != nil {
		return nil, err
	}
	if err := logCrashes(s.Dir.Log(LogName)); err != nil {
		return nil, err
	}
	secrets, err := newSecrets(s.now())
	if err != nil {
		return nil, err
	}
	if err := secrets.write(s.Dir, s.ports.Server()); err != nil {
		return nil, err
	}
	if err := os.WriteFile(s.Dir.Path(plan.Stages), []byte(stages()), 0o600); err != nil {
		return nil, fmt.Errorf("cannot write the stages of kwok: %w", err)
	}
	id, err := s.self()
	if err != nil {
		return nil, err
	}
	return secrets, s.update(func(status *layout.Status) {
		*status = layout.Status{
			Phase: layout.Starting, Server: s.ports.Server(), Ports: s.ports.Map(), Nodes: s.Nodes,
			Started: s.now(), Supervisor: id,
		}
	})
}

func (s *Supervisor) reserve(ctx context.Context) error {
	for _, want := range []struct {
		port int
		got  *int
	}{{s.Port, &s.ports.APIServer}, {0, &s.ports.Etcd}} {
		r, err := Reserve(ctx, want.port)
		if err != nil {
			return err
		}
		s.reserved = append(s.reserved, r)
		*want.got = r.Port
	}
	return nil
}

// await repeats a check until it passes and reports how long that took.
func (s *Supervisor) await(ctx context.Context, what string, check func(context.Context) error) error {
	start := s.now()
	if err := kube.Poll(ctx, pollInterval, check); err != nil {
		if early, is := errors.AsType[*EarlyExitError](err); is {
			return early
		}
		return fmt.Errorf("%s %w; read the logs in %s", what, err, s.Dir.Path(layout.Logs))
	}
	s.report(Event{Step: fmt.Sprintf("%s ready after %s", what, s.now().Sub(start).Round(10*time.Millisecond))})
	return nil
}

// open hands the cluster over: only now is there a kubeconfig for users.
func (s *Supervisor) open(secrets *secrets) error {
	if err := secrets.writeAdmin(s.Dir, s.ports.Server()); err != nil {
		return err
	}
	return s.update(func(status *layout.Status) { status.Phase = layout.Ready })
}
