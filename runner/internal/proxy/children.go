package proxy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
)

// wants reports whether the answer to a read is worth a look: not once it is known that the resource's kind is
// among the children. Reads matter after a restart, when runs find what earlier ones made.
func (s *Session) wants(req apirecord.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.known[resourceOf(req)]
	return !known
}

// seen looks at an object in an answer. If it belongs to the run's resource, its kind is one of children.
func (s *Session) seen(req apirecord.Request, obj metav1.PartialObjectMetadata) {
	gvk := obj.GroupVersionKind()
	if req.DryRun || req.Subresource != "" {
		return // no object, or another kind than the object's own
	}
	s.remember(req, obj, req.Verb == "delete")
	switch {
	case req.Verb == "delete":
		return
	case gvk.Kind == "" || gvk.Group == metav1.GroupName:
		return // a client asked for the metadata only
	case !s.owns(obj):
		return
	}
	s.mu.Lock()
	_, known := s.kinds[gvk]
	s.kinds[gvk] = struct{}{}
	s.known[resourceOf(req)] = struct{}{}
	s.mu.Unlock()
	if !known && s.proxy.children != nil {
		s.proxy.children.Watch(s.primary, gvk)
	}
}

func resourceOf(req apirecord.Request) schema.GroupVersionResource {
	return req.GroupVersion().WithResource(req.Resource)
}

// owns reports whether an object is marked as the resource's.
func (s *Session) owns(obj metav1.PartialObjectMetadata) bool {
	for _, ref := range obj.OwnerReferences {
		if ref.UID == s.owner.UID {
			return true
		}
	}
	want := s.annotations()
	return obj.Annotations[ownerAnnotation] == want[ownerAnnotation] &&
		obj.Annotations[ownerTypeAnnotation] == want[ownerTypeAnnotation]
}
