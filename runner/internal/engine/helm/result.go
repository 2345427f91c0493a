package helm

import (
	"strings"

	"helm.sh/helm/v3/pkg/release"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// maxNotes bounds the notes of a release in a result, in bytes.
const maxNotes = 16 << 10

// describe returns what results say about a release.
func (r *run) describe(rel *release.Release, did engine.Action) *engine.Release {
	notes := rel.Info.Notes
	if len(notes) > maxNotes {
		notes = strings.ToValidUTF8(notes[:maxNotes], "")
	}
	return &engine.Release{
		Name: rel.Name, Version: rel.Version, Digest: string(r.digest),
		Manifest: rel.Manifest, Notes: r.redact.masked(notes), Action: did,
	}
}

// keep remembers a good run. recheck asks the next run to look at the children in any case.
func (r *run) keep(result engine.Result, recheck bool) {
	r.knows(result.Release.Version)
	r.e.remember(r.job.Owner.UID, goodRun{
		digest: r.digest, release: *result.Release, children: result.Children, drift: result.Drift, recheck: recheck,
	})
}

// result is that of a run which finds nothing to do.
func (g goodRun) result() engine.Result {
	described := g.release
	return engine.Result{
		Outcome: engine.Succeeded, Release: &described, Children: append([]engine.Child(nil), g.children...), Drift: g.drift,
	}
}

// nothing is the result when the release was looked at and nothing has to be done.
func (r *run) nothing() engine.Result {
	rel, err := r.store.load(r.store.history.last().version)
	if err != nil {
		return r.apiFailed("look at the release", err)
	}
	return r.settled(rel, engine.Succeeded, engine.ActionNone, false)
}

// settled is the result of a good run that made no revision.
func (r *run) settled(rel *release.Release, outcome engine.Outcome, did engine.Action, recheck bool) engine.Result {
	r.redact.addManifest(rel.Manifest)
	children, err := r.children(rel.Manifest)
	if err != nil {
		return r.apiFailed("list the release's objects", err)
	}
	result := engine.Result{Outcome: outcome, Release: r.describe(rel, did), Children: children}
	return r.judged(result, recheck)
}

// judged completes a good result: what differs, and whether the objects are ready where that is asked for.
func (r *run) judged(result engine.Result, recheck bool) engine.Result {
	result.Drift = r.drift
	kept := result
	if r.e.cfg.Wait {
		if result = r.awaitReady(result, result.Release.Manifest); result.Release == nil {
			return result
		}
	}
	r.keep(kept, recheck || !result.Outcome.OK())
	return result
}

func childOf(info *resource.Info) engine.Child {
	return engine.Child{GVK: info.Mapping.GroupVersionKind, Namespace: info.Namespace, Name: info.Name}
}
