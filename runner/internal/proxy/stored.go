package proxy

import (
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/singleflight"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
)

// Discovery is the part of client-go's discovery client that is needed. One group's failure is no other group's.
type Discovery interface {
	ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error)
}

// storedResources knows which resources are objects that are kept, as opposed to questions and orders in the form of
// an object, like SubjectAccessReview. Those have no owner, and refuse to be given one.
type storedResources struct {
	discovery Discovery
	flights   singleflight.Group

	mu     sync.Mutex
	groups map[string]map[string]bool // group version -> resource -> is stored
}

func newStoredResources(discovery Discovery) *storedResources {
	return &storedResources{discovery: discovery, groups: map[string]map[string]bool{}}
}

// has reports whether what a request is about is stored. What is not known is taken for stored: an object without
// its owner would be left behind, which is worse than a question that the API server refuses.
func (s *storedResources) has(req apirecord.Request) bool {
	if req.Group == "authentication.k8s.io" || req.Group == "authorization.k8s.io" {
		return false // questions only; certain even when discovery fails
	}
	groupVersion := req.GroupVersion().String()
	if stored, known := s.lookUp(groupVersion, req.Resource); known {
		return stored
	}
	// A kind that has appeared since, perhaps by the hand of this very run.
	if err := s.refresh(groupVersion); err != nil {
		return true
	}
	stored, known := s.lookUp(groupVersion, req.Resource)
	return stored || !known
}

func (s *storedResources) lookUp(groupVersion, resource string) (stored, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, known = s.groups[groupVersion][resource]
	return stored, known
}

func (s *storedResources) refresh(groupVersion string) error {
	_, err, _ := s.flights.Do(groupVersion, func() (any, error) {
		list, err := s.discovery.ServerResourcesForGroupVersion(groupVersion)
		if err != nil {
			return nil, fmt.Errorf("ask for the resources of %s: %w", groupVersion, err)
		}
		resources := make(map[string]bool, len(list.APIResources))
		for _, r := range list.APIResources {
			resources[r.Name] = isStored(r.Verbs)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.groups[groupVersion] = resources
		return nil, nil
	})
	return err
}

func isStored(verbs metav1.Verbs) bool {
	for _, verb := range []string{"get", "list", "watch"} {
		if !slices.Contains(verbs, verb) {
			return false
		}
	}
	return true
}
