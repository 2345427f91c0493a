package proxy

import (
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Annotations that name an owner where an owner reference would be illegal. The garbage collector does not look at
// them: what they are on outlives its owner, unless a finalizer cleans up.
const (
	ownerAnnotation     = "operator-sdk/primary-resource"
	ownerTypeAnnotation = "operator-sdk/primary-resource-type"
)

var errNoObject = errors.New("no object that could be marked")

// mark is what makes an object known as a resource's own: one of the two is set.
type mark struct {
	reference   *metav1.OwnerReference
	annotations map[string]string
}

// mark returns the mark for objects of a namespace; the empty one stands for cluster-scoped objects.
//
// An owner reference may point to a cluster-scoped owner or to one in the same namespace. Of anything else the
// garbage collector thinks that the owner does not exist, and deletes it.
func (s *Session) mark(namespace string) mark {
	if s.owner.Namespace != "" && s.owner.Namespace != namespace {
		return mark{annotations: s.annotations()}
	}
	return mark{reference: &metav1.OwnerReference{
		APIVersion: s.owner.APIVersion,
		Kind:       s.owner.Kind,
		Name:       s.owner.Name,
		UID:        s.owner.UID,
	}}
}

func (s *Session) annotations() map[string]string {
	name := s.owner.Name
	if s.owner.Namespace != "" {
		name = s.owner.Namespace + "/" + name
	}
	return map[string]string{
		ownerAnnotation:     name,
		ownerTypeAnnotation: s.primary.GroupKind().String(), // without a dot for the core group
	}
}

// apply puts the mark on an object, once.
func (m mark) apply(obj map[string]any) error {
	metadata, err := below[map[string]any](obj, "metadata")
	if err != nil {
		return err
	}
	if metadata == nil {
		metadata = map[string]any{}
		obj["metadata"] = metadata
	}
	if m.reference != nil {
		return m.addReference(metadata)
	}
	annotations, err := below[map[string]any](metadata, "annotations")
	if err != nil {
		return err
	}
	if annotations == nil {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	for key, value := range m.annotations {
		annotations[key] = value
	}
	return nil
}

func (m mark) addReference(metadata map[string]any) error {
	references, err := below[[]any](metadata, "ownerReferences")
	if err != nil {
		return err
	}
	present := slices.ContainsFunc(references, func(ref any) bool {
		fields, _ := ref.(map[string]any)
		return fields["uid"] == string(m.reference.UID)
	})
	if present {
		return nil
	}
	reference := map[string]any{
		"apiVersion": m.reference.APIVersion,
		"kind":       m.reference.Kind,
		"name":       m.reference.Name,
		"uid":        string(m.reference.UID),
	}
	if m.reference.Controller != nil {
		reference["controller"] = *m.reference.Controller
	}
	if m.reference.BlockOwnerDeletion != nil {
		reference["blockOwnerDeletion"] = *m.reference.BlockOwnerDeletion
	}
	metadata["ownerReferences"] = append(references, reference)
	return nil
}

// on reports whether an object has the mark.
func (m mark) on(metadata metav1.ObjectMeta) bool {
	if m.reference != nil {
		_, named := referenceTo(m.reference.UID, metadata)
		return named
	}
	for key, value := range m.annotations {
		if metadata.Annotations[key] != value {
			return false
		}
	}
	return true
}

// referenceTo returns an object's reference to the owner with a UID.
func referenceTo(uid types.UID, metadata metav1.ObjectMeta) (metav1.OwnerReference, bool) {
	i := slices.IndexFunc(metadata.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == uid })
	if i < 0 {
		return metav1.OwnerReference{}, false
	}
	return metadata.OwnerReferences[i], true
}

// below returns a field that may be missing or null, but nothing else than a T.
func below[T any](obj map[string]any, key string) (T, error) {
	var zero T
	value := obj[key]
	if value == nil {
		return zero, nil
	}
	typed, ok := value.(T)
	if !ok {
		return zero, errNoObject
	}
	return typed, nil
}
