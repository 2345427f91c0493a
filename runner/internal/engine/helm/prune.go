package helm

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// prune deletes objects of other manifests of the release that are not in keep: what only failed attempts have
// made, and Helm therefore forgets. Only objects that say that they are the release's are deleted. What cannot be
// deleted is told and left.
func (r *run) prune(manifests []string, keep string) {
	if len(manifests) == 0 {
		return
	}
	wanted, err := r.client.Build(strings.NewReader(keep), false)
	if err != nil {
		r.tell.notef("objects of failed attempts are left, since the manifest cannot be read: %v", err)
		return
	}
	for _, manifest := range manifests {
		old, err := r.client.Build(strings.NewReader(manifest), false)
		if err != nil {
			r.tell.notef("objects of a failed attempt are left, since its manifest cannot be read: %v", err)
			continue
		}
		for _, info := range old.Difference(wanted) {
			name := title(info, r.namespace)
			if deleted, err := r.pruneOne(info); err != nil {
				r.tell.failed(name, fmt.Errorf("delete what a failed attempt has left: %w", err), 0)
			} else if deleted {
				r.tell.object(name, "deleted; a failed attempt had left it")
			}
		}
	}
}

func (r *run) pruneOne(info *resource.Info) (bool, error) {
	if info.Name == "" || kept(object(info)) {
		return false, nil
	}
	helper := resource.NewHelper(info.Client, info.Mapping)
	live, err := get(helper, info)
	if err != nil || live == nil || live.GetDeletionTimestamp() != nil {
		return false, err
	}
	if kept(live) || !hasHelmMarks(live, r.job.Owner.Name, r.namespace) {
		return false, nil
	}
	return true, deleteOne(helper, info)
}

func deleteOne(helper *resource.Helper, info *resource.Info) error {
	background := metav1.DeletePropagationBackground
	_, err := helper.DeleteWithOptions(info.Namespace, info.Name, &metav1.DeleteOptions{PropagationPolicy: &background})
	return err
}

// unrecorded returns what the release whose record is gone may have consisted of: what is remembered, else what the chart
// gives for the resource. A chart that gives nothing is no reason to hold the resource.
func (r *run) unrecorded() []string {
	if known, ok := r.e.recall(r.job.Owner.UID); ok {
		return []string{leftovers(known.children, r.namespace)}
	}
	content, err := r.e.charts.load()
	if err != nil {
		return nil
	}
	r.content = content
	made, err := r.render(1)
	if err != nil {
		r.tell.notef("what the release may have left is not known: %v", err)
		return nil
	}
	return made.manifests
}

// leftovers returns a manifest of those remembered children that no garbage collector takes care of. It stands in
// for the release's when that is gone, as after a deletion in the foreground, which takes the record first.
func leftovers(children []engine.Child, namespace string) string {
	var b strings.Builder
	for _, child := range children {
		if child.Namespace == namespace {
			continue
		}
		fmt.Fprintf(&b, "---\napiVersion: %q\nkind: %q\nmetadata:\n  name: %q\n", child.GVK.GroupVersion().String(), child.GVK.Kind, child.Name)
		if child.Namespace != "" {
			fmt.Fprintf(&b, "  namespace: %q\n", child.Namespace)
		}
	}
	return b.String()
}
