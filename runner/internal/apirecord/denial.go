package apirecord

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// maxMessage is how many bytes of a refusal's message are kept.
const maxMessage = 1 << 10

// missingRule is how the API server words that the caller's rights do not suffice. An admission plugin, a quota
// or a namespace that is being deleted also answer 403, but no rule would help against those.
var missingRule = regexp.MustCompile(
	`cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// ParseDenial returns which right the API server missed when it gave this answer to req. It reports false if the
// answer does not say that a right is missing.
//
// The verb and resource are those of the message: a server-side apply (patch) of something that does not exist
// is refused for want of the verb create, a request in someone else's name for want of the verb impersonate.
func ParseDenial(req Request, status metav1.Status) (engine.Denial, bool) {
	if status.Code != http.StatusForbidden {
		return engine.Denial{}, false
	}
	match := missingRule.FindStringSubmatch(status.Message)
	if match == nil {
		return engine.Denial{}, false
	}
	denial := engine.Denial{
		Verb:      match[1],
		Resource:  match[2],
		Group:     match[3],
		Namespace: match[4],
		Message:   shorten(status.Message, maxMessage),
	}
	if asked := strings.TrimSuffix(req.Resource+"/"+req.Subresource, "/"); asked == denial.Resource {
		denial.Name = req.Name
	}
	return denial, true
}

// DenialOf returns the right that the API server missed when it refused a request for a resource with err; nil when that
// is not what err says.
func DenialOf(err error, resource schema.GroupVersionResource) *engine.Denial {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil
	}
	req := Request{Group: resource.Group, Version: resource.Version, Resource: resource.Resource}
	if denial, ok := ParseDenial(req, status.Status()); ok {
		return &denial
	}
	return nil
}

// shorten cuts s to at most limit bytes without leaving half a character.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
