package helm

import (
	"strings"

	"helm.sh/helm/v3/pkg/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Marks on objects, the same as the Operator SDK's, so that its operators' children are found.
const (
	chartLabel               = "helm.sdk.operatorframework.io/chart"
	primaryAnnotation        = "operator-sdk/primary-resource"
	primaryTypeAnnotation    = "operator-sdk/primary-resource-type"
	managedByLabel           = "app.kubernetes.io/managed-by"
	releaseNameAnnotation    = "meta.helm.sh/release-name"
	releaseSpaceAnnotation   = "meta.helm.sh/release-namespace"
	managedByHelm            = "Helm"
	maxLabel                 = validation.LabelValueMaxLength
	trimmedFromLabelEndChars = "-_."
)

// marks is what is put on every object of a release on its way to the API server.
type marks struct {
	owner engine.Owner
	chart string // name of the chart; empty leaves the label off
	none  bool   // no owner at all
}

// put marks an object. Objects that the owner's end must not take along, or cannot, get annotations instead of an
// owner reference: those that are to be kept, of another namespace, or of none.
func (m marks) put(obj *unstructured.Unstructured, namespaced bool) {
	if m.chart != "" {
		setLabel(obj, chartLabel, labelValue(m.chart))
	}
	switch {
	case m.none:
	case m.collectable(obj, namespaced):
		obj.SetOwnerReferences(withOwner(obj.GetOwnerReferences(), m.owner))
	default:
		setAnnotation(obj, primaryAnnotation, qualified(m.owner))
		setAnnotation(obj, primaryTypeAnnotation, groupKind(m.owner).String())
	}
}

// collectable reports whether the garbage collector may delete the object after its owner.
func (m marks) collectable(obj *unstructured.Unstructured, namespaced bool) bool {
	if kept(obj) {
		return false
	}
	return m.owner.Namespace == "" || namespaced && obj.GetNamespace() == m.owner.Namespace
}

// kept reports whether an object is to survive its release.
func kept(obj *unstructured.Unstructured) bool {
	policy := obj.GetAnnotations()[kube.ResourcePolicyAnno]
	return strings.ToLower(strings.TrimSpace(policy)) == kube.KeepPolicy
}

// reference returns the owner reference of a resource's children.
func reference(owner engine.Owner) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID,
		Controller: &yes, BlockOwnerDeletion: &yes,
	}
}

// withOwner returns refs with the owner among them, once. An object has one controller at most: where the chart
// names another one, the owner is an ordinary owner.
func withOwner(refs []metav1.OwnerReference, owner engine.Owner) []metav1.OwnerReference {
	ref := reference(owner)
	out := make([]metav1.OwnerReference, 0, len(refs)+1)
	for _, other := range refs {
		if other.UID == owner.UID {
			continue
		}
		if other.Controller != nil && *other.Controller {
			ref.Controller = nil
		}
		out = append(out, other)
	}
	return append(out, ref)
}

// putHelmMarks makes an object known as part of a release, as Helm itself does when it installs.
func putHelmMarks(obj *unstructured.Unstructured, name, namespace string) {
	setLabel(obj, managedByLabel, managedByHelm)
	setAnnotation(obj, releaseNameAnnotation, name)
	setAnnotation(obj, releaseSpaceAnnotation, namespace)
}

// hasHelmMarks reports whether a live object says that it belongs to the release.
func hasHelmMarks(obj *unstructured.Unstructured, name, namespace string) bool {
	annotations := obj.GetAnnotations()
	return annotations[releaseNameAnnotation] == name && annotations[releaseSpaceAnnotation] == namespace
}

// onlyMarks returns what says whose an object is, and nothing else of it.
func onlyMarks(obj *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion(obj.GetAPIVersion())
	out.SetKind(obj.GetKind())
	out.SetNamespace(obj.GetNamespace())
	out.SetName(obj.GetName())
	out.SetOwnerReferences(obj.GetOwnerReferences())
	for _, key := range []string{chartLabel, managedByLabel} {
		if value, ok := obj.GetLabels()[key]; ok {
			setLabel(out, key, value)
		}
	}
	for _, key := range []string{primaryAnnotation, primaryTypeAnnotation, releaseNameAnnotation, releaseSpaceAnnotation} {
		if value, ok := obj.GetAnnotations()[key]; ok {
			setAnnotation(out, key, value)
		}
	}
	return out
}

func groupKindOf(group, kind string) schema.GroupKind {
	return schema.GroupKind{Group: group, Kind: kind}
}

func groupKind(owner engine.Owner) schema.GroupKind {
	return schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
}

func setLabel(obj *unstructured.Unstructured, key, value string) {
	labels := obj.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	obj.SetLabels(labels)
}

func setAnnotation(obj *unstructured.Unstructured, key, value string) {
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	obj.SetAnnotations(annotations)
}

// labelValue shortens a name to what a label takes.
func labelValue(name string) string {
	if len(name) > maxLabel {
		name = name[:maxLabel]
	}
	return strings.TrimRight(name, trimmedFromLabelEndChars)
}
