package helm

import (
	"helm.sh/helm/v3/pkg/action"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// upgrade makes a new revision from today's inputs. A failed one is not rolled back: what it has done stays, the
// true error is told, and the next attempt starts from the last good revision.
func (r *run) upgrade() engine.Result {
	if refusal := r.ready(); refusal != nil {
		return *refusal
	}
	r.tell.begin("upgrade")
	defer r.atWork()()
	if failed := r.prepareCRDs(engine.ActionUpgrade); failed != nil {
		return *failed
	}
	r.takesOver = r.store.history.last().digest == ""
	attempts := r.attemptsBefore()
	before, err := r.clearWay()
	if err != nil {
		return r.actionFailed(engine.ActionUpgrade, nil, err)
	}
	act := action.NewUpgrade(r.helm)
	act.Namespace = r.namespace
	act.ResetValues = true // else empty values would stand for those of the last revision
	act.MaxHistory = r.helm.Releases.MaxHistory
	act.Timeout = r.hookTimeout()
	act.Force = r.force()
	act.DisableHooks = r.options.upgradeNoHooks
	act.Description = r.options.upgradeDescription
	act.SkipSchemaValidation = true // done by ready
	act.TakeOwnership = r.e.cfg.Adopt
	act.Labels = r.upgradeLabels(attempts)
	keep, err := r.keepGenerated()
	if err != nil {
		return r.apiFailed("look at the release", err)
	}
	if keep != nil {
		act.PostRenderer = keep
	}
	r.countAttempts(attempts)
	rel, err := act.Run(r.job.Owner.Name, r.content.clone(), cloneMap(r.job.Inputs))
	r.store.stamp = nil
	if err != nil {
		return r.upgradeFailed(rel, err)
	}
	return r.released(engine.ActionUpgrade, rel, before)
}

// force reports whether objects that cannot be changed in place are made anew. The resource's annotation wins over the
// watch.
func (r *run) force() bool {
	if r.options.force != nil {
		return *r.options.force
	}
	return r.e.cfg.Force
}
