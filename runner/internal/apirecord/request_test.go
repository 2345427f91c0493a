package apirecord_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
)

func TestParseRequest(t *testing.T) {
	for _, tc := range []struct {
		why          string
		method, path string
		want         apirecord.Request
		isObject     bool
	}{
		{
			why:    "the core group has no group in its path",
			method: http.MethodPost, path: "/api/v1/namespaces/a/configmaps",
			want:     apirecord.Request{Verb: "create", Version: "v1", Resource: "configmaps", Namespace: "a"},
			isObject: true,
		},
		{
			why:    "a subresource is not the object",
			method: http.MethodPatch, path: "/apis/apps/v1/namespaces/a/deployments/web/scale",
			want: apirecord.Request{
				Verb: "patch", Group: "apps", Version: "v1", Resource: "deployments", Subresource: "scale", Namespace: "a", Name: "web",
			},
			isObject: true,
		},
		{
			why:    "reading without a name is a list",
			method: http.MethodGet, path: "/api/v1/pods",
			want:     apirecord.Request{Verb: "list", Version: "v1", Resource: "pods"},
			isObject: true,
		},
		{
			why:    "watching one object by field selector is a watch, however much it looks like a read (C2)",
			method: http.MethodGet, path: "/api/v1/namespaces/a/pods?watch=true&fieldSelector=metadata.name%3Dp",
			want:     apirecord.Request{Verb: "watch", Version: "v1", Resource: "pods", Namespace: "a", Name: "p"},
			isObject: true,
		},
		{
			why:    "deleting without a name deletes a collection",
			method: http.MethodDelete, path: "/api/v1/namespaces/a/pods",
			want:     apirecord.Request{Verb: "deletecollection", Version: "v1", Resource: "pods", Namespace: "a"},
			isObject: true,
		},
		{
			why:    "a namespace is itself an object",
			method: http.MethodPut, path: "/api/v1/namespaces/a",
			want:     apirecord.Request{Verb: "update", Version: "v1", Resource: "namespaces", Namespace: "a", Name: "a"},
			isObject: true,
		},
		{
			why:    "a dry run changes nothing",
			method: http.MethodPost, path: "/api/v1/namespaces?dryRun=All",
			want:     apirecord.Request{Verb: "create", Version: "v1", Resource: "namespaces", DryRun: true},
			isObject: true,
		},
		{why: "discovery is about no object", method: http.MethodGet, path: "/apis/apps/v1"},
		{why: "neither is the version", method: http.MethodGet, path: "/version"},
		{why: "nor the root", method: http.MethodGet, path: "/"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, isObject := apirecord.ParseRequest(httptest.NewRequest(tc.method, tc.path, nil))
			if isObject != tc.isObject {
				t.Errorf("ParseRequest says %v about being an object, want %v", isObject, tc.isObject)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("ParseRequest (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestWrites(t *testing.T) {
	for _, tc := range []struct {
		why  string
		req  apirecord.Request
		want bool
	}{
		{why: "creating changes", req: apirecord.Request{Verb: "create"}, want: true},
		{why: "a patch may be empty, but who knows", req: apirecord.Request{Verb: "patch"}, want: true},
		{why: "a dry run does not", req: apirecord.Request{Verb: "patch", DryRun: true}},
		{why: "reading does not", req: apirecord.Request{Verb: "get"}},
		{why: "a collection is not one object", req: apirecord.Request{Verb: "deletecollection"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := tc.req.Writes(); got != tc.want {
				t.Errorf("Writes() = %v, want %v", got, tc.want)
			}
		})
	}
}
