package helm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/helm/drift"
)

// parallelReads is how many objects of a release are read at a time.
const parallelReads = 4

// recheckAfter is when to look again at objects that are being deleted, to make them anew when they are gone.
const recheckAfter = 10 * time.Second

// report is what looking at a release's objects came to.
type report struct {
	how         looking
	changed     []string // objects that were put back
	terminating []string // objects that are being deleted
	drift       []string // what differs and was left so
	failures    []engine.Failure
}

// verify looks at every object of the release, and creates or patches what is not as the manifest says.
func (r *run) verify() engine.Result {
	rel, err := r.store.load(r.store.history.last().version)
	if err != nil {
		return r.apiFailed("look at the release", err)
	}
	return r.mend(rel)
}

// adopt makes the release this resource's, without a new revision: its record gets the owner and the digest of its
// inputs, and its objects the marks that the resource's objects have.
func (r *run) adopt() engine.Result {
	last := r.store.history.last()
	rel, err := r.store.load(last.version)
	if err != nil {
		return r.apiFailed("look at the release", err)
	}
	if rel.Labels == nil {
		rel.Labels = map[string]string{}
	}
	rel.Labels[digestLabel], rel.Labels[revisionLabel] = string(r.digest), strconv.Itoa(rel.Version)
	if err := r.helm.Releases.Update(rel); err != nil {
		return r.apiFailed("take the release over", err)
	}
	r.tell.notef("release %s, revision %d, is what the resource asks for and was taken over as it is", rel.Name, rel.Version)
	if r.e.cfg.Drift != DriftCorrect {
		if _, err := r.repair(rel, mark); err != nil {
			return r.apiFailed("read the release's manifest", err)
		}
	}
	return r.mend(rel)
}

// mend repairs a release, or looks at it, and says what it came to.
func (r *run) mend(rel *release.Release) engine.Result {
	r.redact.addManifest(rel.Manifest)
	if r.e.cfg.Drift == DriftOff {
		return r.settled(rel, engine.Succeeded, engine.ActionNone, false)
	}
	how := correct
	if r.e.cfg.Drift == DriftDetect {
		how = detect
	}
	report, err := r.repair(rel, how)
	if err != nil {
		return r.apiFailed("read the release's manifest", err)
	}
	recheck := len(report.failures) > 0 || len(report.terminating) > 0
	outcome, did := engine.Succeeded, engine.ActionNone
	if len(report.changed) > 0 {
		outcome, did = engine.Changed, engine.ActionRepair
	}
	if how == detect {
		r.drift = append([]string{}, report.drift...)
	}
	result := r.settled(rel, outcome, did, recheck)
	if len(report.terminating) > 0 {
		result.RetryAfter = recheckAfter
	}
	if len(report.failures) > 0 {
		first := report.failures[0]
		result.Outcome, result.Reason = engine.Transient, engine.ReasonReconcileFailed
		result.Message = fmt.Sprintf("%d of the release's objects could not be put back; %s: %s",
			len(report.failures), first.Name, first.Message)
		result.Failures = report.failures
	}
	return result
}

// repair compares the objects of a release with its manifest. One that fails does not stop the others.
func (r *run) repair(rel *release.Release, how looking) (report, error) {
	out := report{how: how}
	infos, err := r.client.read(strings.NewReader(rel.Manifest))
	if len(infos) == 0 && err != nil {
		return out, err
	}
	if err != nil { // kinds that the cluster does not have
		out.failures = append(out.failures, engine.Failure{Name: "manifest", Message: r.redact.clean(err.Error())})
	}
	lives, errs := r.readAll(infos)
	r.seen = map[engine.Child]*unstructured.Unstructured{}
	for i, info := range infos {
		r.seen[childOf(info)] = lives[i]
		switch {
		case info.Name == "": // with a generated name; each creation makes another object
			continue
		case errs[i] != nil:
			err = errs[i]
		default:
			err = r.repairOne(&out, info, lives[i], rel)
		}
		if err != nil {
			name := title(info, r.namespace)
			out.failures = append(out.failures, engine.Failure{Name: name, Message: r.redact.clean(explain(err))})
			r.tell.failed(name, err, 0)
		}
	}
	return out, nil
}

// readAll returns the live objects, nil where there is none, and what went wrong for each.
func (r *run) readAll(infos kube.ResourceList) ([]*unstructured.Unstructured, []error) {
	lives, errs := make([]*unstructured.Unstructured, len(infos)), make([]error, len(infos))
	var group errgroup.Group
	group.SetLimit(parallelReads)
	for i, info := range infos {
		if info.Name == "" {
			continue
		}
		group.Go(func() error {
			lives[i], errs[i] = get(resource.NewHelper(info.Client, info.Mapping), info)
			return nil
		})
	}
	_ = group.Wait() // each error is in errs
	return lives, errs
}

// repairOne brings one object to what the manifest says.
func (r *run) repairOne(out *report, info *resource.Info, live *unstructured.Unstructured, rel *release.Release) error {
	want, name := object(info), title(info, r.namespace)
	putHelmMarks(want, rel.Name, rel.Namespace)
	if out.how == mark {
		info.Object = onlyMarks(want)
	}
	helper := resource.NewHelper(info.Client, info.Mapping).WithFieldManager(fieldManager())
	switch {
	case live == nil && (goesByItself(want) || out.how == mark):
		return nil
	case live == nil && out.how == detect:
		out.drift = append(out.drift, name+" is missing")
		return nil
	case live == nil:
		made, err := helper.Create(info.Namespace, true, want)
		if err != nil {
			return fmt.Errorf("create it again: %w", err)
		}
		r.seen[childOf(info)] = object(&resource.Info{Object: made})
		out.changed = append(out.changed, name)
		r.tell.object(name, "created again, for it was missing")
		return nil
	case live.GetDeletionTimestamp() != nil:
		out.terminating = append(out.terminating, name)
		return nil
	case othersRelease(live, rel):
		return fmt.Errorf("release %q in namespace %q claims it too: %w",
			live.GetAnnotations()[releaseNameAnnotation], live.GetAnnotations()[releaseSpaceAnnotation], errClaimed)
	}
	return r.putBack(out, helper, info, live)
}

// putBack patches an object so that it holds what the manifest says.
func (r *run) putBack(out *report, helper *resource.Helper, info *resource.Info, live *unstructured.Unstructured) error {
	patch, differs, err := drift.New(object(info)).Diff(live)
	key := vainKey{owner: r.job.Owner.UID, child: childOf(info)}
	if err != nil || !differs || r.e.inVain(key, patch.Signature) {
		return err
	}
	if out.how == detect {
		return r.detect(out, helper, info, live, patch)
	}
	after, err := helper.Patch(info.Namespace, info.Name, patch.Type, patch.Data, nil)
	if err != nil {
		return fmt.Errorf("put back %s: %w", fields(patch), err)
	}
	now := object(&resource.Info{Object: after})
	r.seen[childOf(info)] = now
	if now != nil && sameContent(now, live) {
		r.e.wasInVain(key, patch.Signature)
		return nil
	}
	name := title(info, r.namespace)
	out.changed = append(out.changed, name)
	r.tell.object(name, "put back "+fields(patch))
	return nil
}

// goesByItself reports whether an object is deleted when it has done its work: making it again would do that again.
func goesByItself(want *unstructured.Unstructured) bool {
	_, limited, _ := unstructured.NestedFieldNoCopy(want.Object, "spec", "ttlSecondsAfterFinished")
	return limited && want.GetKind() == "Job"
}

var errClaimed = errors.New("object of two releases")

// othersRelease reports whether a live object says that it belongs to another release.
func othersRelease(live *unstructured.Unstructured, rel *release.Release) bool {
	return live.GetAnnotations()[releaseNameAnnotation] != "" && !hasHelmMarks(live, rel.Name, rel.Namespace)
}

// fields names the first fields of a patch.
func fields(patch drift.Patch) string {
	const most = 5
	names := patch.Fields
	if len(names) > most {
		return fmt.Sprintf("%s and %d more fields", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// fieldManager is the name under which Helm changes objects.
func fieldManager() string {
	if kube.ManagedFieldsManager != "" {
		return kube.ManagedFieldsManager
	}
	return filepath.Base(os.Args[0])
}
