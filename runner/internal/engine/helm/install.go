package helm

import (
	"helm.sh/helm/v3/pkg/action"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// install makes the first good revision. A failed attempt stays as it is: its objects are adopted by the next one,
// which creates what is missing and deletes what the chart no longer asks for, so that nothing flaps and nothing
// that was there before is lost.
func (r *run) install() engine.Result {
	if refusal := r.ready(); refusal != nil {
		return *refusal
	}
	r.tell.begin("install")
	defer r.atWork()()
	if failed := r.prepareCRDs(engine.ActionInstall); failed != nil {
		return *failed
	}
	keep, err := r.keepGenerated() // before the attempt that it is kept from is dropped
	if err != nil {
		return r.apiFailed("look at the release", err)
	}
	before, err := r.clearWay()
	if err != nil {
		return r.actionFailed(engine.ActionInstall, nil, err)
	}
	act := action.NewInstall(r.helm)
	act.ReleaseName, act.Namespace = r.job.Owner.Name, r.namespace
	act.Replace = len(r.store.history) > 0
	act.Timeout = r.hookTimeout()
	act.DisableHooks = r.options.installNoHooks
	act.Description = r.options.installDescription
	act.SkipSchemaValidation = true // done by ready
	act.SkipCRDs = true             // done by prepareCRDs
	act.TakeOwnership = r.e.cfg.Adopt
	act.Labels = r.labels()
	if keep != nil {
		act.PostRenderer = keep
	}
	rel, err := act.Run(r.content.clone(), cloneMap(r.job.Inputs))
	if err != nil {
		return r.actionFailed(engine.ActionInstall, rel, err)
	}
	return r.released(engine.ActionInstall, rel, before)
}
