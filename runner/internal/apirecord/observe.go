package apirecord

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Observe notes the answer to a request. If there is something in the answer's body worth noting, it replaces the
// body by one that is noted while it is read; so it must be called before the body is read.
func (r *Recorder) Observe(req Request, resp *http.Response) {
	switch {
	case resp.StatusCode == http.StatusForbidden:
		r.tap(resp, maxStatus, func(contentType string, body []byte) { r.noteRefusal(req, contentType, body) })
	case resp.StatusCode < 200 || resp.StatusCode > 299:
	case req.Verb == "deletecollection" && !req.DryRun:
		r.tap(resp, maxObject, func(contentType string, body []byte) { r.noteCollection(req, contentType, body) })
	case r.interesting(req):
		r.tap(resp, maxObject, func(contentType string, body []byte) { r.noteObject(req, contentType, body) })
	}
}

// interesting reports whether the object in a successful answer to req is wanted.
func (r *Recorder) interesting(req Request) bool {
	switch req.Verb {
	case "create", "update", "patch", "delete":
		return req.Writes() || r.Seen != nil
	case "get":
		return req.Name != "" && req.Subresource == "" && r.Inspect != nil && r.Inspect(req)
	}
	return false
}

// tap lets note see the answer's body, without content encoding, when it has been read. The body is nil if it is
// none that can be understood, like a stream, or longer than limit.
func (r *Recorder) tap(resp *http.Response, limit int, note func(contentType string, body []byte)) {
	contentType, encoding := resp.Header.Get("Content-Type"), resp.Header.Get("Content-Encoding")
	if !readable(contentType) || resp.Body == nil || resp.ContentLength > int64(limit) {
		note(contentType, nil)
		return
	}
	resp.Body = &tappedBody{ReadCloser: resp.Body, limit: limit, done: func(body []byte) {
		note(contentType, plain(encoding, body, limit))
	}}
}

func (r *Recorder) noteRefusal(req Request, contentType string, body []byte) {
	status, err := decodeStatus(contentType, body)
	if err != nil {
		return // refused by something else than the API server; the client sees it as it is
	}
	if denial, ok := ParseDenial(req, status); ok {
		r.addDenial(denial)
	}
}

func (r *Recorder) noteObject(req Request, contentType string, body []byte) {
	obj, err := decodeObject(contentType, body)
	if err != nil {
		obj = metav1.PartialObjectMetadata{}
	}
	isStatus := obj.APIVersion == "v1" && obj.Kind == "Status"
	if req.Writes() {
		r.addWrite(writeOf(req, obj, isStatus, contentType, body))
	}
	if r.Seen != nil && obj.UID != "" && !isStatus {
		r.Seen(req, obj)
	}
}

// noteCollection takes note of objects that were deleted together, with which the API server answers.
func (r *Recorder) noteCollection(req Request, contentType string, body []byte) {
	list, err := decodeList(contentType, body)
	if err != nil {
		return
	}
	gvk := schema.GroupVersionKind{Group: req.Group, Version: req.Version}
	for _, obj := range list.Items {
		r.addWrite(engine.Write{
			GVK: gvk, Namespace: obj.Namespace, Name: obj.Name, UID: obj.UID, ResourceVersion: obj.ResourceVersion, Deleted: true,
		})
	}
}

// writeOf returns the change that an answer tells of. Where the answer tells nothing, the request has to do.
func writeOf(req Request, obj metav1.PartialObjectMetadata, isStatus bool, contentType string, body []byte) engine.Write {
	write := engine.Write{
		GVK:       schema.GroupVersionKind{Group: req.Group, Version: req.Version},
		Namespace: req.Namespace,
		Name:      req.Name,
		Deleted:   req.Verb == "delete" && req.Subresource == "",
	}
	switch {
	case isStatus:
		write.UID = uidOf(contentType, body)
	case obj.UID != "":
		write.GVK = obj.GroupVersionKind()
		write.Namespace, write.Name = obj.Namespace, obj.Name
		write.UID, write.ResourceVersion = obj.UID, obj.ResourceVersion
	}
	return write
}

// uidOf returns which object a Status is about; deleting answers with one.
func uidOf(contentType string, body []byte) types.UID {
	status, err := decodeStatus(contentType, body)
	if err != nil || status.Details == nil {
		return ""
	}
	return status.Details.UID
}
