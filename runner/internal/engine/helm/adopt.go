package helm

import (
	"errors"
	"fmt"

	"helm.sh/helm/v3/pkg/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// errOwned is for objects that exist and are not to be taken over.
var errOwned = errors.New("it is somebody else's and is not adopted")

// adoptable returns an error for the first object that exists and belongs to someone: another release, another
// resource, or whatever controls it. Helm by itself would take over those as well.
func (r *run) adoptable(infos kube.ResourceList) error {
	lives, errs := r.readAll(infos)
	for i, info := range infos {
		if errs[i] != nil {
			return fmt.Errorf("look at %s: %w", title(info, r.namespace), errs[i])
		}
		if lives[i] == nil {
			continue
		}
		if owner := r.ownerOf(lives[i]); owner != "" {
			return fmt.Errorf("%s belongs to %s: %w", title(info, r.namespace), owner, errOwned)
		}
	}
	return nil
}

// ownerOf says in words to whom an object belongs; nothing if that is nobody, or this resource.
func (r *run) ownerOf(live *unstructured.Unstructured) string {
	annotations, owner := live.GetAnnotations(), r.job.Owner
	name, space := annotations[releaseNameAnnotation], annotations[releaseSpaceAnnotation]
	primary, primaryType := annotations[primaryAnnotation], annotations[primaryTypeAnnotation]
	controller := metav1.GetControllerOfNoCopy(live)
	switch {
	case controller != nil && controller.UID != owner.UID:
		return controller.Kind + " " + controller.Name
	case name != "" && (name != owner.Name || space != r.namespace):
		return fmt.Sprintf("release %q in namespace %q", name, space)
	case primary != "" && (primary != qualified(owner) || primaryType != groupKind(owner).String()):
		return primaryType + " " + primary
	}
	return ""
}
