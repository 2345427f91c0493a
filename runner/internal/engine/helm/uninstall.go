package helm

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// waitMessage is what the Operator SDK says while objects of an uninstalled release still exist.
const waitMessage = "Waiting until all resources are deleted."

// uninstallPoll is when to look again whether they are gone.
const uninstallPoll = 5 * time.Second

// finalize uninstalls the release of a resource that is being deleted. It needs neither chart nor values, so that
// what is broken can be deleted. A release that is gone already is as good as uninstalled.
func (r *run) finalize() engine.Result {
	owner := r.job.Owner
	if r.namespace == "" || len(owner.Name) > maxReleaseName {
		return engine.Result{Outcome: engine.Succeeded} // it never could be installed
	}
	if err := r.connect(r.ctx, ""); err != nil {
		return r.apiFailed("look at the release", err)
	}
	last := r.store.history.last()
	switch {
	case last == nil:
		r.tell.notef("Release not found")
		return r.gone(false)
	case !r.owns(last):
		r.tell.notef("release %s in namespace %s is not this resource's and is left alone", owner.Name, r.namespace)
		return engine.Result{Outcome: engine.Succeeded}
	}
	if s, why := r.unfinished(last); s == busy {
		return r.busy(why)
	}
	rel, err := r.store.load(last.version)
	if err != nil {
		return r.unreadable(last, err)
	}
	r.redact.addManifest(rel.Manifest)
	return r.uninstall(rel)
}

// unfinished tells whether somebody else may be at work on the release.
func (r *run) unfinished(last *record) (state, string) {
	if !last.unfinished() {
		return unchanged, ""
	}
	r.held = r.e.heldFor(r.job.Owner.UID, last.holder)
	f := facts{now: r.e.cfg.Clock.Now(), alone: r.e.cfg.Alone, held: r.held > 0}
	return f.unfinished(last)
}

// owns reports whether the release may be uninstalled on behalf of the resource. One that names no owner was made
// by stock Helm and, had it been taken over, would name one by now; it is the resource's only if this chart's.
func (r *run) owns(last *record) bool {
	f := facts{history: r.store.history, owner: r.job.Owner}
	if last.controller() == nil {
		content, err := r.e.load(r.ctx)
		if err != nil {
			return false
		}
		rel, err := r.store.load(last.version)
		if err != nil {
			return false
		}
		f.mine, f.chart = content.name(), chartName(rel.Chart)
	}
	return f.foreign(last) == ""
}

// uninstall takes the release away, and with the annotation uninstall-wait stays until its objects are gone. Its
// record is kept so long, for it says which objects those are.
func (r *run) uninstall(rel *release.Release) engine.Result {
	if rel.Info.Status != release.StatusUninstalled || !r.options.uninstallWait {
		r.tell.begin("uninstall")
		defer r.atWork()()
		others, err := r.abandoned()
		if err != nil {
			return r.actionFailed(engine.ActionUninstall, nil, err)
		}
		err = r.remove(rel.Name, r.options.uninstallNoHooks)
		if err != nil && isTerminating(err.Error()) {
			r.tell.notef("release %s: its namespace is being deleted, so that no hook can run", rel.Name)
			err = r.remove(rel.Name, true)
		}
		if err != nil {
			return r.actionFailed(engine.ActionUninstall, rel, r.uninstallError(err))
		}
		r.prune(others, rel.Manifest)
		r.tell.done("uninstall", "Uninstalled release "+rel.Name)
	}
	if r.options.uninstallWait {
		if waiting := r.waitGone(rel); waiting != nil {
			return *waiting
		}
	}
	return r.gone(true)
}

// remove has Helm uninstall the release.
func (r *run) remove(name string, withoutHooks bool) error {
	act := action.NewUninstall(r.helm)
	act.KeepHistory = r.options.uninstallWait
	act.DisableHooks = withoutHooks
	act.Description = r.options.uninstallDescription
	act.Timeout = r.hookTimeout()
	_, err := act.Run(name)
	return err
}

// abandoned returns the manifests of revisions that may have left objects which the newest does not name: failed
// attempts before it, and the good revision that it was to replace.
func (r *run) abandoned() ([]string, error) {
	last := r.store.history.last()
	before := append(history(nil), r.store.history.failures()...)
	if good := r.store.history.deployed(); good != nil {
		before = append(before, *good)
	}
	var manifests []string
	for _, old := range before {
		if old.version == last.version {
			continue
		}
		rel, err := r.store.load(old.version)
		if errors.Is(err, errCorrupt) {
			continue
		}
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, rel.Manifest)
	}
	return manifests, nil
}

// uninstallError adds what Helm writes to its log only: which objects could not be deleted, and why.
func (r *run) uninstallError(err error) error {
	if failures := r.client.deletionFailures(); len(failures) > 0 {
		return fmt.Errorf("%w: %w", err, errors.Join(failures...))
	}
	return err
}

// waitGone deletes what is left of an uninstalled release and reports that it is waited for; nil if nothing is left.
func (r *run) waitGone(rel *release.Release) *engine.Result {
	infos, err := r.client.Build(strings.NewReader(rel.Manifest), false)
	if err != nil {
		result := r.actionFailed(engine.ActionUninstall, rel, err)
		return &result
	}
	lives, errs := r.readAll(infos)
	var left []string
	for i, info := range infos {
		if kept(object(info)) || errs[i] == nil && lives[i] == nil {
			continue
		}
		left = append(left, title(info, r.namespace))
		if errs[i] == nil && lives[i].GetDeletionTimestamp() == nil {
			errs[i] = deleteOne(resource.NewHelper(info.Client, info.Mapping), info)
		}
		if errs[i] != nil {
			r.tell.failed(left[len(left)-1], errs[i], 0)
		}
	}
	if len(left) == 0 {
		return nil
	}
	r.tell.notef("Uninstall wait: still there: %s", strings.Join(left, ", "))
	return &engine.Result{
		Outcome: engine.Waiting, Reason: engine.ReasonUninstalling, Message: waitMessage, RetryAfter: uninstallPoll,
		Release: r.describe(rel, engine.ActionUninstall),
	}
}

// gone ends a good uninstall: nothing of the history stays, and nothing is remembered.
func (r *run) gone(changed bool) engine.Result {
	if !changed {
		r.prune(r.unrecorded(), "")
	}
	for _, old := range append(history(nil), r.store.history...) {
		if _, err := r.helm.Releases.Delete(r.job.Owner.Name, old.version); err != nil {
			return r.actionFailed(engine.ActionUninstall, nil, err)
		}
	}
	r.forget()
	if !changed {
		return engine.Result{Outcome: engine.Succeeded}
	}
	return engine.Result{Outcome: engine.Changed}
}

// unreadable is the result of a record that cannot be read when its release is to be uninstalled.
func (r *run) unreadable(last *record, err error) engine.Result {
	if !errors.Is(err, errCorrupt) {
		return r.apiFailed("look at the release", err)
	}
	return r.actionFailed(engine.ActionUninstall, nil, fmt.Errorf(
		"%w; delete Secret %s to let the resource go, and look for objects that the release has left",
		err, secretName(r.job.Owner.Name, last.version)))
}
