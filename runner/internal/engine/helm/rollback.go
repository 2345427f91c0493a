package helm

import (
	"fmt"
	"strconv"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/release"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// rollback goes back to the last good revision after an upgrade was given up. It happens once: the revision that it makes
// says which inputs were given up, so that they are not tried again.
func (r *run) rollback(why string) engine.Result {
	good := *r.store.history.deployed()
	r.tell.begin("rollback")
	before, err := r.failedManifests()
	if err != nil {
		return r.actionFailed(engine.ActionUpgrade, nil, err)
	}
	r.stampRollback(good.digest)
	defer func() { r.store.stamp = nil }()
	act := action.NewRollback(r.helm)
	act.Version = good.version
	act.Force = r.options.rollbackForce
	act.Timeout = r.hookTimeout()
	act.DisableHooks = r.options.upgradeNoHooks
	act.MaxHistory = r.helm.Releases.MaxHistory
	if err := act.Run(r.job.Owner.Name); err != nil {
		r.failUnfinished(err)
		return r.actionFailed(engine.ActionUpgrade, nil, fmt.Errorf("%s; and the rollback to revision %d failed: %w", why, good.version, err))
	}
	last := r.store.history.last()
	rel, err := r.store.load(last.version)
	if err != nil {
		return r.apiFailed("look at the release", err)
	}
	r.prune(before, rel.Manifest)
	r.tell.done("rollback", fmt.Sprintf("Rolled back release %s to revision %d, as revision %d", rel.Name, good.version, rel.Version))
	return r.rolledBack(rel, why)
}

// stampRollback has the revision that a rollback makes say what was given up. Until it is good it counts as one more failure
// of today's inputs, and then as made from those of the revision that it repeats.
func (r *run) stampRollback(good digest) {
	next, attempts := r.store.history.next(), r.attempts
	r.store.stamp = func(rel *release.Release) {
		if rel.Version != next {
			return
		}
		of := r.digest
		if rel.Info.Status == release.StatusDeployed {
			of = good
		}
		rel.Labels = map[string]string{
			digestLabel: string(of), revisionLabel: strconv.Itoa(next),
			givenUpLabel: string(r.digest), attemptsLabel: strconv.Itoa(attempts),
		}
	}
}

// failUnfinished writes down that the newest revision has failed, where Helm does not.
func (r *run) failUnfinished(why error) {
	last := r.store.history.last()
	if !last.unfinished() {
		return
	}
	rel, err := r.store.load(last.version)
	if err == nil {
		rel.SetStatus(release.StatusFailed, r.redact.clean(why.Error()))
		err = r.helm.Releases.Update(rel)
	}
	if err != nil {
		r.tell.notef("revision %d could not be marked as failed: %v", last.version, err)
	}
}

// rolledBack is the result of a release that went back to a good revision.
func (r *run) rolledBack(rel *release.Release, why string) engine.Result {
	result := r.gaveUp(fmt.Sprintf("%s; rolled back, as revision %d", why, rel.Version))
	children, err := r.children(rel.Manifest)
	if err == nil {
		result.Children = children
	}
	return result
}

// failedManifests returns the manifests of failed attempts since the last good revision.
func (r *run) failedManifests() ([]string, error) {
	var manifests []string
	for _, failed := range r.store.history.failures() {
		rel, err := r.store.load(failed.version)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, rel.Manifest)
	}
	return manifests, nil
}
