package apirecord

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Request says what an HTTP request asks of the API server, in the words of RBAC.
type Request struct {
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection
	Group       string // empty for the core group
	Version     string
	Resource    string // plural
	Subresource string
	Namespace   string // empty for cluster-scoped objects and for requests over all namespaces
	Name        string // empty where the request does not name one object
	DryRun      bool   // the API server is asked to change nothing
}

// resolver is the API server's own reading of request paths, so that our verbs are those that RBAC checks.
var resolver = request.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

// ParseRequest returns what r asks for. It reports false if that is no object or list of objects, like
// discovery, /version or a path that the API server would not understand either.
func ParseRequest(r *http.Request) (Request, bool) {
	info, err := resolver.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return Request{}, false
	}
	return Request{
		Verb:        info.Verb,
		Group:       info.APIGroup,
		Version:     info.APIVersion,
		Resource:    info.Resource,
		Subresource: info.Subresource,
		Namespace:   info.Namespace,
		Name:        info.Name,
		DryRun:      r.URL.Query().Has("dryRun"),
	}, true
}

// GroupVersion returns the API group and version of the request's resource.
func (r Request) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}
}

// Writes reports whether the request changes one object, if the API server agrees. A dry run does not.
func (r Request) Writes() bool {
	if r.DryRun {
		return false
	}
	switch r.Verb {
	case "create", "update", "patch", "delete":
		return true
	}
	return false
}
