package watches

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// kindName is what the API server takes for a kind: a DNS label, in any case.
var kindName = regexp.MustCompile(`^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`)

// checkKind checks that the watched kind could exist.
func (e *entry) checkKind() {
	gvk := e.watch.GVK
	e.checkName("version", gvk.Version, len(validation.IsDNS1035Label(gvk.Version)) == 0, "a version like v1 or v1alpha1")
	e.checkName("kind", gvk.Kind, len(gvk.Kind) <= validation.DNS1035LabelMaxLength && kindName.MatchString(gvk.Kind), "a kind like Database")
	if gvk.Group != "" {
		e.checkName("group", gvk.Group, len(validation.IsDNS1123Subdomain(gvk.Group)) == 0, "an API group like example.com")
	}
}

// checkName reports a part of the kind that is missing or that no API server would take.
func (e *entry) checkName(key, value string, valid bool, like string) {
	switch {
	case valid || !e.readable(key):
	case value == "" && e.set[key] == nil:
		e.failf(e.node, key, "", "the watch has no %s", key)
	case value == "":
		e.failf(e.at(key), key, "", "%s must not be empty", key)
	case strings.HasPrefix(value, "${"):
		e.failf(e.at(key), key, "", "%s: the environment variable %s is not set", key, strings.Trim(value, "${}"))
	default:
		e.failf(e.at(key), key, "", "%s: %q is not %s", key, value, like)
	}
}

// describe names a kind the way people write it: Database.v1.example.com, or Secret.v1 for the core group.
func describe(gvk schema.GroupVersionKind) string {
	if gvk.Group == "" {
		return gvk.Kind + "." + gvk.Version
	}
	return fmt.Sprintf("%s.%s.%s", gvk.Kind, gvk.Version, gvk.Group)
}
