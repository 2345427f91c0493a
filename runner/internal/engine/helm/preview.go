package helm

import (
	"context"
	"errors"
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/helm/drift"
)

// errIncomplete is for charts that lack a dependency.
var errIncomplete = errors.New("the chart is incomplete")

// errRefused is for what would not be run.
var errRefused = errors.New("refused")

// Preview is what a run would get and do.
type Preview struct {
	// Action is what the run would do: install, upgrade, repair, adopt, none, or wait.
	Action string
	// Why says in words what leads to it.
	Why string
	// Release, Namespace and Revision name what there would be after the run.
	Release, Namespace string
	Revision           int
	// Objects are those that the run would touch.
	Objects []Change
}

// Change is what would become of one object.
type Change struct {
	Child engine.Child
	// Verb is create, change, delete, keep or put back.
	Verb string
	// Fields are those that differ in the cluster, of an object that is put back.
	Fields []string
	// Before and After are the object in the manifest of the last good release and in the next one, as YAML without
	// what Secrets hold; empty where it is not in it.
	Before, After string
}

// Render returns what `helm template` would print for a job, with the cluster's capabilities and objects.
func (e *Engine) Render(ctx context.Context, job engine.Job) (string, error) {
	r := e.newRun(ctx, job)
	defer func() { r.release() }()
	if err := r.readyToLook(ctx); err != nil {
		return "", err
	}
	out, err := r.render(r.store.history.next())
	if err != nil {
		return "", err
	}
	return out.text(), nil
}

// Values returns the values of a job with the defaults of the chart.
func (e *Engine) Values(ctx context.Context, job engine.Job) (map[string]any, error) {
	content, err := e.load(ctx)
	if err != nil {
		return nil, err
	}
	c, values := content.clone(), cloneMap(job.Inputs)
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return nil, fmt.Errorf("process the chart's dependencies: %w", err)
	}
	return chartutil.CoalesceValues(c, values)
}

// Preview tells what a run of the job would do, and does nothing.
func (e *Engine) Preview(ctx context.Context, job engine.Job) (Preview, error) {
	r := e.newRun(ctx, job)
	defer func() { r.release() }()
	if err := r.readyToLook(ctx); err != nil {
		return Preview{}, err
	}
	move, why, err := r.nextMove()
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Action: string(move), Why: why, Release: job.Owner.Name, Namespace: r.namespace, Revision: max(r.store.history.next()-1, 1)}
	switch move {
	case moveInstall, moveUpgrade:
		p.Revision = r.store.history.next()
		p.Objects, err = r.changes(p.Revision)
	case moveVerify, moveAdopt:
		if p.Objects, err = r.drifted(); move == moveVerify {
			p.Action = string(moveNone)
			if len(p.Objects) > 0 {
				p.Action, p.Why = string(engine.ActionRepair), "objects in the cluster are not as the release has them"
			}
		}
	case moveRefuse:
		return Preview{}, fmt.Errorf("%s: %s: %w", engine.ReasonReleaseTaken, why, errRefused)
	default: // no object would be touched
	}
	return p, err
}

// readyToLook prepares a run that only looks.
func (r *run) readyToLook(ctx context.Context) error {
	for _, step := range []func() *engine.Result{r.checkName, r.prepare} {
		if refusal := step(); refusal != nil {
			return fmt.Errorf("%s: %s: %w", refusal.Reason, r.redact.clean(refusal.Message), errRefused)
		}
	}
	if err := r.connect(ctx, r.content.name()); err != nil {
		return err
	}
	if refusal := r.ready(); refusal != nil {
		return fmt.Errorf("%s: %s: %w", refusal.Reason, r.redact.clean(refusal.Message), errRefused)
	}
	return nil
}

// nextMove returns what a run would do in the end.
func (r *run) nextMove() (move, string, error) {
	f, err := r.facts()
	if err != nil {
		return "", "", err
	}
	s, why := determine(f)
	var same *bool
	switch plan(s, true, nil) {
	case moveUnlock:
		s = failedInstall
		if f.history.everDeployed() {
			s = failedUpgrade
		}
	case moveCompare:
		equal, difference, err := r.compare()
		if err != nil {
			return "", "", err
		}
		same = &equal
		if !equal {
			why += "; " + difference
		}
	default: // it is the last one
	}
	return plan(s, true, same), why, nil
}

// drifted returns the objects that are not as the newest revision has them.
func (r *run) drifted() ([]Change, error) {
	rel, err := r.store.load(r.store.history.last().version)
	if err != nil {
		return nil, err
	}
	infos, err := r.client.read(stringReader(rel.Manifest))
	if err != nil {
		return nil, err
	}
	lives, errs := r.readAll(infos)
	var out []Change
	for i, info := range infos {
		if errs[i] != nil {
			return nil, fmt.Errorf("look at %s: %w", title(info, r.namespace), errs[i])
		}
		want := object(info)
		putHelmMarks(want, rel.Name, rel.Namespace)
		change, differs, err := r.difference(info, want, lives[i])
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", title(info, r.namespace), err)
		}
		if differs {
			out = append(out, change)
		}
	}
	return out, nil
}

// difference returns what would become of an object that should be as want is; false if it would be left as it is.
func (r *run) difference(info *resource.Info, want, live *unstructured.Unstructured) (Change, bool, error) {
	child := childOf(info)
	switch {
	case info.Name == "" || live == nil && goesByItself(want):
		return Change{}, false, nil
	case live == nil:
		return Change{Child: child, Verb: "create"}, true, nil
	}
	patch, differs, err := drift.New(want).Diff(live)
	if err != nil || !differs || r.e.inVain(vainKey{owner: r.job.Owner.UID, child: child}, patch.Signature) {
		return Change{}, false, err
	}
	return Change{Child: child, Verb: "put back", Fields: patch.Fields}, true, nil
}
