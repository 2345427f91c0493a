package proxy

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
)

// servedGroups is a Discovery that counts how often it is asked.
type servedGroups struct {
	groups map[string][]metav1.APIResource
	asked  int
}

func (s *servedGroups) ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error) {
	s.asked++
	resources, ok := s.groups[groupVersion]
	if !ok {
		return nil, errors.New("the server is currently unable to handle the request")
	}
	return &metav1.APIResourceList{APIResources: resources}, nil
}

func TestStoredResources(t *testing.T) {
	served := &servedGroups{groups: map[string][]metav1.APIResource{
		"v1":                      {{Name: "configmaps", Verbs: metav1.Verbs{"create", "get", "list", "watch"}}, {Name: "bindings", Verbs: metav1.Verbs{"create"}}},
		"project.openshift.io/v1": {{Name: "projectrequests", Verbs: metav1.Verbs{"create", "list"}}},
	}}
	stored := newStoredResources(served)
	for _, tc := range []struct {
		why string
		req apirecord.Request
		want,
		asks bool
	}{
		{why: "an ordinary object", req: apirecord.Request{Version: "v1", Resource: "configmaps"}, want: true, asks: true},
		{why: "one of the same group, without asking again", req: apirecord.Request{Version: "v1", Resource: "bindings"}},
		{why: "an order that can be listed but not read", req: apirecord.Request{Group: "project.openshift.io", Version: "v1", Resource: "projectrequests"}, asks: true},
		{why: "a question, whatever discovery says", req: apirecord.Request{Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews"}},
		{why: "a group that does not answer is no reason to leave an object without its owner", req: apirecord.Request{Group: "broken.example.com", Version: "v1", Resource: "things"}, want: true, asks: true},
		{why: "a kind that is not there yet", req: apirecord.Request{Version: "v1", Resource: "widgets"}, want: true, asks: true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			before := served.asked
			if got := stored.has(tc.req); got != tc.want {
				t.Errorf("has(%v) = %v, want %v", tc.req, got, tc.want)
			}
			if asked := served.asked != before; asked != tc.asks {
				t.Errorf("discovery was asked: %v, want %v", asked, tc.asks)
			}
		})
	}
	served.groups["v1"] = append(served.groups["v1"], metav1.APIResource{Name: "widgets", Verbs: metav1.Verbs{"create"}})
	if stored.has(apirecord.Request{Version: "v1", Resource: "widgets"}) {
		t.Error("a kind that has appeared since is not noticed (C14)")
	}
}
