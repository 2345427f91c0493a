package helm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Engine runs one chart for many resources. It is safe for concurrent use.
type Engine struct {
	cfg    Config
	charts *chartSource
	base   http.RoundTripper // with TLS and credentials
	host   string
	good   *lru.Cache // UID -> goodRun
	vain   *lru.Cache // vainKey -> signature
	claims *lru.Cache // UID -> sighting
	wake   func(owner types.NamespacedName, why string)
}

var _ engine.Engine = (*Engine)(nil)

// Ready returns nil if the chart loads.
func (e *Engine) Ready(ctx context.Context) error {
	_, err := e.load(ctx)
	return err
}

// Run brings the release of the job's owner to what the job asks for, or uninstalls it. The error is always nil:
// whatever goes wrong is a result.
func (e *Engine) Run(ctx context.Context, job engine.Job) (engine.Result, error) {
	started := e.cfg.Clock.Now()
	result := e.run(ctx, job)
	result.Started, result.Finished = started, e.cfg.Clock.Now()
	return result, nil
}

func (e *Engine) run(outer context.Context, job engine.Job) engine.Result {
	ctx, cancel := withTimeout(outer, job.Timeout)
	defer cancel()
	r := e.newRun(ctx, job)
	r.cancel = cancel
	defer r.following()()
	defer func() { r.release() }()
	var result engine.Result
	switch {
	case ctx.Err() != nil:
		result = engine.Result{Outcome: engine.Cancelled}
	case job.Mode == engine.Finalize:
		result = r.finalize() //nolint:contextcheck // a run holds its context
	default:
		result = r.reconcile() //nolint:contextcheck // a run holds its context
	}
	return r.finish(outer, result)
}

func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

// reconcile brings the release to what the job asks for.
func (r *run) reconcile() engine.Result {
	if refusal := r.checkName(); refusal != nil {
		return *refusal
	}
	if refusal := r.prepare(); refusal != nil {
		return *refusal
	}
	verify := r.job.VerifyChildren && (r.e.cfg.Drift != DriftOff || r.e.cfg.Wait)
	known, ok := r.e.recall(r.job.Owner.UID)
	verify = verify || ok && known.recheck
	if ok && known.digest == r.digest && !verify {
		if result := r.remembered(known); result != nil {
			return *result
		}
	}
	if err := r.connect(r.ctx, r.content.name()); err != nil {
		return r.apiFailed("look at the release", err)
	}
	return r.converge(verify)
}

// remembered returns the result of the run that is remembered, or nil if its revision stands no more.
func (r *run) remembered(known goodRun) *engine.Result {
	stands, err := r.stands(known)
	if err != nil {
		result := r.apiFailed("look at the release", err)
		return &result
	}
	if !stands {
		return nil
	}
	result := known.result()
	return &result
}

// prepare loads the chart and works out the digest of the inputs.
func (r *run) prepare() *engine.Result {
	content, err := r.e.load(r.ctx)
	if errors.Is(err, errFetch) {
		return &engine.Result{Outcome: engine.Transient, Reason: engine.ReasonChartUnavailable, Message: err.Error()}
	}
	if err != nil {
		return refuse(engine.ReasonInvalidChart, err.Error())
	}
	r.content = content
	values, err := canonical(r.job.Inputs)
	if err != nil {
		return refuse(engine.ReasonInvalidValues, err.Error())
	}
	r.values = slices.Concat(values, []byte(r.generation())) // another one is another release
	if err := r.digestInputs(); err != nil {
		result := r.apiFailed("ask for the cluster's capabilities", err)
		return &result
	}
	return nil
}

// digestInputs works out the digest of the inputs, with the capabilities that the cluster has now.
func (r *run) digestInputs() (err error) {
	var caps *chartutil.Capabilities
	if r.content.uses.with(r.values).capabilities() {
		caps, err = r.e.cfg.Capabilities.get(r.ctx, r.getter)
	}
	if err == nil {
		r.digest = inputsDigest(r.content, r.values, caps)
	}
	return err
}

// maxMoves bounds how often the release is looked at in one run: unlock, compare and what follows.
const maxMoves = 4

// converge looks, plans and acts until there is nothing left to look at.
func (r *run) converge(verify bool) engine.Result {
	var same *bool
	for range maxMoves {
		facts, err := r.facts()
		if err != nil {
			return r.apiFailed("look at the release", err)
		}
		s, why := determine(facts)
		switch move := plan(s, verify, same); move {
		case moveUnlock:
			if err := r.unlock(why); err != nil {
				return r.apiFailed("unlock the release", err)
			}
		case moveCompare:
			equal, difference, err := r.compare()
			if err != nil {
				return r.renderFailed(err)
			}
			same = &equal
			if !equal {
				r.tell.notef("release %s needs an upgrade: %s", r.job.Owner.Name, difference)
			}
		default:
			return r.act(move, why)
		}
	}
	return r.apiFailed("look at the release", fmt.Errorf("it changes while it is looked at: %w", errUnsettled))
}

// act carries out the last move of a run.
func (r *run) act(m move, why string) engine.Result {
	switch m {
	case moveInstall:
		return r.install()
	case moveUpgrade:
		return r.upgrade()
	case moveVerify:
		return r.verify()
	case moveAdopt:
		return r.adopt()
	case moveGiveUp:
		return r.giveUp()
	case moveStay:
		return r.stay()
	case moveWait:
		return r.busy(why)
	case moveRefuse:
		return *refuse(engine.ReasonReleaseTaken, fmt.Sprintf(
			"release %q in namespace %s is taken: %s; give the resource another name or uninstall that release",
			r.job.Owner.Name, r.namespace, why))
	default:
		return r.nothing()
	}
}

// busy is the result when somebody else works on the release.
func (r *run) busy(why string) engine.Result {
	return engine.Result{
		Outcome: engine.Waiting, Reason: engine.ReasonReleaseBusy, RetryAfter: r.busyFor(),
		Message: fmt.Sprintf("release %q is being worked on: %s", r.job.Owner.Name, why),
	}
}
