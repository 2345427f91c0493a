package helm

import (
	"context"
	"fmt"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/storage"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// run is one job being carried out.
type run struct {
	e         *Engine
	job       engine.Job
	ctx       context.Context //nolint:containedctx // of the job, with its timeout; a run is one call of Run
	namespace string          // of the release
	misplaced error           // why there is none
	options   options
	recorder  *apirecord.Recorder
	log       *ring
	redact    *redactor
	tell      *teller
	getter    *getter
	release   func() // frees what the run holds
	cancel    func() // ends the run

	content *content
	values  []byte // the inputs, as the digest has them
	digest  digest
	store   *store
	client  *client
	helm    *action.Configuration

	held      time.Duration                               // for how long another operator's claim has to be respected
	seen      map[engine.Child]*unstructured.Unstructured // objects as they are, once all were looked at
	drift     []string                                    // what differs and is left so; nil when nobody looked
	attempts  int                                         // upgrades to today's inputs that have failed, those of this run included
	unlocked  int                                         // revision that this run found cut off
	takesOver bool                                        // the newest revision was made by another tool
}

func (e *Engine) newRun(ctx context.Context, job engine.Job) *run {
	r := &run{
		e: e, job: job, ctx: ctx, options: readOptions(job.Annotations),
		recorder: &apirecord.Recorder{}, log: &ring{}, redact: &redactor{}, release: func() {},
	}
	r.redact.addValues(job.Inputs)
	r.namespace, r.misplaced = e.cfg.place(job.Owner)
	r.tell = &teller{clock: e.cfg.Clock, namespace: r.namespace, progress: job.Progress, clean: r.redact.clean}
	r.getter = newGetter(r.clientConfig(ctx), e.cfg.Mapper)
	return r
}

// clientConfig returns a configuration whose requests go over the engine's connections, are recorded for this run
// and end with ctx.
func (r *run) clientConfig(ctx context.Context) *rest.Config {
	base := r.e.cfg.RESTConfig
	return &rest.Config{
		Host:                      r.e.host,
		UserAgent:                 base.UserAgent,
		Timeout:                   base.Timeout,
		QPS:                       -1, // the API server's own fairness is enough, and the config's limit is per client
		Transport:                 &boundTransport{ctx: ctx, next: r.recorder.Wrap(r.e.base)},
		WarningHandlerWithContext: warnings{r.log},
	}
}

// warnings keeps the API server's warnings, like that a field is unknown, with Helm's log.
type warnings struct{ log *ring }

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _ string, text string) {
	if code == 299 && text != "" {
		w.log.printf("API server warns: %s", text)
	}
}

// connect makes what a run needs to act: the release store, the client and Helm's configuration. The store outlives
// the run by the grace period, so that a run which was ended can write down that it was.
func (r *run) connect(ctx context.Context, chart string) error {
	if r.store != nil {
		return nil
	}
	late, free := withGrace(ctx, r.e.cfg.Grace)
	r.release = free
	store, err := newStore(late, r.clientConfig(late), r.job.Owner, r.namespace, r.log.printf)
	if err != nil {
		return err
	}
	store.holding.now = r.e.cfg.Clock.Now
	r.store = store
	r.client = &client{
		Client: &kube.Client{Factory: r.getter, Log: r.log.printf, Namespace: r.namespace},
		ctx:    ctx,
		getter: r.getter,
		tell:   r.tell,
		marks:  marks{owner: r.job.Owner, chart: chart, none: r.e.cfg.WithoutOwner},
		installedCRDs: func() {
			r.e.cfg.Capabilities.Invalidate()
			r.helm.Capabilities = nil // so that Helm asks again before it renders
		},
	}
	if r.e.cfg.Adopt {
		r.client.adoptable = r.adoptable
	}
	releases := storage.Init(store)
	releases.Log = r.log.printf
	releases.MaxHistory = max(r.e.cfg.MaxHistory, 0)
	r.helm = &action.Configuration{
		RESTClientGetter: r.getter, KubeClient: r.client, Releases: releases, Log: r.log.printf,
	}
	return r.look()
}

// look reads which revisions there are.
func (r *run) look() error { return r.store.refresh() }

// useCapabilities gives Helm what the engine knows of the cluster, so that it does not ask itself.
func (r *run) useCapabilities() error {
	caps, err := r.e.cfg.Capabilities.get(r.ctx, r.getter)
	if err != nil {
		return err
	}
	r.helm.Capabilities = caps
	return nil
}

// atWork claims the revisions that the run works on until the returned function is called.
func (r *run) atWork() (done func()) {
	if r.e.cfg.Alone {
		return func() {}
	}
	ctx, stop := context.WithCancel(r.ctx)
	r.store.holding.lost = func() {
		r.tell.notef("release %s: another operator has taken it over; leaving it to that one", r.job.Owner.Name)
		r.cancel()
	}
	go r.store.holding.keep(ctx)
	return stop
}

// busyFor is when to look again at a release that somebody else works on.
func (r *run) busyFor() time.Duration {
	if r.held > 0 {
		return min(r.held, busyRetry)
	}
	return busyRetry
}

// hookTimeout is how long a hook may take: as configured, but no longer than what is left of the run.
func (r *run) hookTimeout() time.Duration {
	limit := r.e.cfg.HookTimeout
	if deadline, ok := r.ctx.Deadline(); ok {
		limit = min(limit, max(time.Until(deadline), time.Millisecond))
	}
	return limit
}

// facts returns what is known of the release.
func (r *run) facts() (facts, error) {
	f := facts{
		history: r.store.history, want: r.digest, mine: r.content.name(),
		owner: r.job.Owner, now: r.e.cfg.Clock.Now(), alone: r.e.cfg.Alone,
		retries: r.e.cfg.Retries, asked: r.job.Trigger == engine.TriggerRequest,
	}
	if last := f.history.last(); last != nil {
		r.held = r.e.heldFor(r.job.Owner.UID, last.holder)
		f.held = r.held > 0
		rel, err := r.store.load(last.version)
		if err != nil {
			return facts{}, fmt.Errorf("look at the release: %w", err)
		}
		f.chart = chartName(rel.Chart)
	}
	return f, nil
}
