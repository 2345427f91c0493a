package helm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"helm.sh/helm/v3/pkg/release"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// ready checks what can be checked before an install or upgrade, and asks for the cluster's capabilities.
func (r *run) ready() *engine.Result {
	for _, name := range r.options.ignored {
		r.tell.notef("annotation %s is none of true and false, and counts as false", name)
	}
	chart := r.content.clone()
	if err := checkValues(chart, cloneMap(r.job.Inputs)); err != nil {
		return r.refuse(engine.ReasonInvalidValues, err.Error())
	}
	if missing := missingDependencies(chart); len(missing) > 0 {
		return r.refuse(engine.ReasonInvalidChart, fmt.Sprintf(
			"chart %s needs %s, which is missing from its charts directory", chart.Name(), strings.Join(missing, ", ")))
	}
	if err := r.useCapabilities(); err != nil {
		result := r.apiFailed("ask for the cluster's capabilities", err)
		return &result
	}
	return nil
}

// labels are put on the next revision's record.
func (r *run) labels() map[string]string {
	next := r.store.history.next()
	labels := map[string]string{digestLabel: string(r.digest), revisionLabel: strconv.Itoa(next)}
	if generation := r.generation(); generation != "" {
		labels[generatedLabel] = generation
	}
	return labels
}

// clearWay prepares the history for another attempt. It returns the manifests of the failed attempts since the last
// good revision, for what they may have left behind.
//
// Of failed attempts with today's inputs none is kept: an attempt that is repeated takes the place of the one
// before, so that trying for a whole night adds one revision. What was cut off just now is kept as a trace.
func (r *run) clearWay() ([]string, error) {
	var manifests []string
	for _, failed := range append(history(nil), r.store.history.failures()...) {
		rel, err := r.store.load(failed.version)
		if err != nil && !errors.Is(err, errCorrupt) {
			return nil, err
		}
		if err == nil {
			manifests = append(manifests, rel.Manifest)
		}
		if failed.digest == r.digest && failed.version != r.unlocked {
			if _, err := r.helm.Releases.Delete(r.job.Owner.Name, failed.version); err != nil {
				return nil, fmt.Errorf("drop failed revision %d: %w", failed.version, err)
			}
		}
	}
	return manifests, nil
}

// released finishes a good install or upgrade. before are the manifests of failed attempts: what only they made is
// deleted. Where objects of them, or of anyone else, were adopted, Helm compares custom resources with the old
// manifest instead of the cluster, so all are looked at once more: else they would lack their owner.
func (r *run) released(did engine.Action, rel *release.Release, before []string) engine.Result {
	r.redact.addManifest(rel.Manifest)
	r.supersede(rel.Version)
	r.prune(before, rel.Manifest)
	recheck := false
	if len(before) > 0 || r.takesOver || did == engine.ActionInstall && r.client.updated {
		report, err := r.repair(rel, correct)
		recheck = err != nil || len(report.failures) > 0 || len(report.terminating) > 0
	}
	children, err := r.children(rel.Manifest)
	if err != nil {
		return r.apiFailed("list the release's objects", err)
	}
	verb := map[engine.Action]string{engine.ActionInstall: "Installed", engine.ActionUpgrade: "Upgraded"}[did]
	r.tell.done(string(did), fmt.Sprintf("%s release %s, revision %d, %d objects", verb, rel.Name, rel.Version, len(children)))
	result := engine.Result{Outcome: engine.Changed, Release: r.describe(rel, did), Children: children}
	if recheck {
		result.RetryAfter = recheckAfter
	}
	if r.e.cfg.Drift == DriftDetect {
		r.drift = []string{}
	}
	return r.judged(result, recheck)
}

// supersede sees to it that no revision but the newest counts as deployed. Helm leaves one behind where an
// uninstall was cut off after a failed upgrade. That is untidy and no more, so a failure is told and left.
func (r *run) supersede(newest int) {
	for _, old := range append(history(nil), r.store.history...) {
		if old.version == newest || old.status != release.StatusDeployed {
			continue
		}
		rel, err := r.store.load(old.version)
		if err == nil {
			rel.SetStatus(release.StatusSuperseded, "Superseded by revision "+strconv.Itoa(newest))
			err = r.helm.Releases.Update(rel)
		}
		if err != nil {
			r.tell.notef("revision %d could not be marked as superseded: %v", old.version, err)
		}
	}
}

// children returns the objects of a manifest.
func (r *run) children(manifest string) ([]engine.Child, error) {
	infos, err := r.client.Build(strings.NewReader(manifest), false)
	if err != nil {
		return nil, err
	}
	children := make([]engine.Child, 0, len(infos))
	for _, info := range infos {
		if info.Name != "" { // objects with a generated name cannot be found again
			children = append(children, childOf(info))
		}
	}
	return children, nil
}
