package proxy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
)

// maxOwn is how many of its resource's objects a run remembers. It asks for what it has no room for.
const maxOwn = 4 << 10

// objectKey names an object in whatever version.
type objectKey struct{ group, resource, namespace, name string }

func keyOf(req apirecord.Request) objectKey {
	return objectKey{req.Group, req.Resource, req.Namespace, req.Name}
}

// mine returns the metadata of an object that this run knows to be the resource's own. No more is kept than what says
// so.
func (s *Session) mine(req apirecord.Request) (metav1.ObjectMeta, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, known := s.own[keyOf(req)]
	return have, known
}

// remember notes whose an object is.
func (s *Session) remember(req apirecord.Request, obj metav1.PartialObjectMetadata, gone bool) {
	key := keyOf(req)
	if key.name == "" {
		key.name = obj.Name // of an object that was created
	}
	reference, named := referenceTo(s.owner.UID, obj.ObjectMeta)
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone || !s.owns(obj) {
		delete(s.own, key)
		return
	}
	if _, known := s.own[key]; !known && len(s.own) == maxOwn {
		return
	}
	have := metav1.ObjectMeta{}
	if named {
		have.OwnerReferences = []metav1.OwnerReference{reference}
	}
	s.own[key] = have
}
