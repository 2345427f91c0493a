package proxy

import (
	"mime"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
)

// prepare looks at the object in a request's body where that is of use: Secrets are learned, and what the request
// may create is marked.
func (p *Proxy) prepare(r *http.Request, e *exchange) {
	contentType := r.Header.Get("Content-Type")
	learns, marks := e.session.learns(e.req), p.marks(e.session, e.req, contentType)
	if learns {
		r.Header.Del("Accept-Encoding") // the answer has to be read here, and loopback is none the faster for it
	}
	if !learns && !marks || r.Body == nil || r.Body == http.NoBody {
		return
	}
	body, ok := holdBody(r)
	if !ok {
		if learns {
			e.session.missed()
		}
		return
	}
	if learns {
		e.session.learnSent(contentType, body)
	}
	if marks {
		if marked, err := p.marked(r, e, body); err == nil {
			body = marked
		}
	}
	putBody(r, body)
}

// marks reports whether a request may create something that is to be marked. Other patches than those of server-side
// apply never create.
func (p *Proxy) marks(s *Session, req apirecord.Request, contentType string) bool {
	if !p.inject || s.owner.UID == "" || req.Subresource != "" {
		return false
	}
	switch {
	case req.Verb == "create" && req.Name == "":
	case req.Verb == "update" && req.Name != "":
	case req.Verb == "patch" && isApply(contentType):
	default:
		return false
	}
	return p.stored.has(req)
}

func isApply(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == string(types.ApplyYAMLPatchType) || media == string(types.ApplyCBORPatchType))
}

// marked returns a request's body with the mark, or errNoObject if it is to stay as it is.
func (p *Proxy) marked(r *http.Request, e *exchange, body []byte) ([]byte, error) {
	contentType := r.Header.Get("Content-Type")
	m := e.session.mark(e.req.Namespace)
	if e.req.Verb != "create" {
		said, err := metadataIn(contentType, body)
		if err != nil {
			return nil, err
		}
		if m.on(said) {
			return nil, errNoObject
		}
		if m, err = p.markFor(r, e, m, said); err != nil {
			return nil, err
		}
	}
	return m.encode(contentType, body)
}

// markFor returns the mark for an object that may exist already: an update or a server-side apply creates it only if
// it does not. What a request of these two says nothing of, it takes away, so the mark goes on
//
//   - what does not exist and the request would create,
//   - what is the resource's own, as it is there: it must not get lost, and a reference that another field manager
//     applied must not differ from it.
//
// It does not go on what exists and is not the resource's own. To be changed by a playbook is not to belong to it: it
// would be deleted together with the resource. Where that cannot be found out, the mark does not go on either, since
// nothing is worse than that.
func (p *Proxy) markFor(r *http.Request, e *exchange, m mark, said metav1.ObjectMeta) (mark, error) {
	have, known := e.session.mine(e.req)
	if !known {
		found, err := p.find(r, e.session)
		switch {
		case err != nil:
			return mark{}, err
		case found == nil && (said.ResourceVersion != "" || said.UID != ""):
			return mark{}, errNoObject // it means a certain object, which is gone
		case found == nil:
			return m, nil
		case !e.session.owns(*found):
			return mark{}, errNoObject
		}
		have = found.ObjectMeta
	}
	if m.reference == nil {
		return m, nil
	}
	if e.req.Verb == "update" && len(said.OwnerReferences) > 0 {
		return mark{}, errNoObject // the playbook itself says who the owners are to be
	}
	if reference, named := referenceTo(m.reference.UID, have); named {
		return mark{reference: &reference}, nil
	}
	return mark{}, errNoObject
}

// find asks for the metadata of the object that a request names. It is nil if there is none.
func (p *Proxy) find(r *http.Request, s *Session) (*metav1.PartialObjectMetadata, error) {
	s.recorder.CountRequest()
	asked := impersonation(r.Header)
	asked.Set("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	answer, err := p.asker.ask(r.Context(), r.URL.EscapedPath(), asked, maxMetadata)
	switch {
	case err != nil:
		return nil, err
	case answer.status == http.StatusNotFound:
		return nil, nil
	case answer.status != http.StatusOK:
		return nil, errNoObject
	}
	return decodeMetadata(answer.body)
}
