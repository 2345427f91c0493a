package helm

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/chartbook-operator/chartbook/runner/internal/engine/helm/drift"
)

// looking is what is done about differences.
type looking int

const (
	correct looking = iota // they are put back
	detect                 // they are only named
	mark                   // only what says whose an object is, is put on it
)

// detect notes what differs in an object, unless the API server would write the wanted values in another way.
func (r *run) detect(out *report, helper *resource.Helper, info *resource.Info, live *unstructured.Unstructured, patch drift.Patch) error {
	after, err := helper.DryRun(true).Patch(info.Namespace, info.Name, patch.Type, patch.Data, nil)
	if now := object(&resource.Info{Object: after}); err == nil && now != nil && sameContent(now, live) {
		r.e.wasInVain(vainKey{owner: r.job.Owner.UID, child: childOf(info)}, patch.Signature)
		return nil
	}
	out.drift = append(out.drift, title(info, r.namespace)+": "+fields(patch))
	return nil // it differs, whether or not it could be put back
}

// sameContent compares two states of an object, but for what every write changes and what controllers write.
func sameContent(a, b *unstructured.Unstructured) bool {
	strip := func(o *unstructured.Unstructured) map[string]any {
		o = o.DeepCopy()
		o.SetManagedFields(nil)
		o.SetResourceVersion("")
		o.SetGeneration(0)
		delete(o.Object, "status")
		return o.Object
	}
	return equality.Semantic.DeepEqual(strip(a), strip(b))
}
