package related

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// Reasons why a resource is refused, beside those of package input. They are words of status conditions.
const (
	ReasonInvalidReference = "InvalidReference"        // a field holds what cannot be the name of an object
	ReasonCrossNamespace   = "CrossNamespaceReference" // a field leads out of the resource's namespace
)

// target is what a reference leads to: one object, or those that a selector chooses. The zero target is none.
type target struct {
	gvk       schema.GroupVersionKind
	namespace string // empty if the resource has none, or the kind lives in none
	name      string
	selector  string // a label selector as the API takes it
}

func (t target) isZero() bool { return t == target{} }

// String names the target in messages.
func (t target) String() string {
	name := t.name
	if t.selector != "" {
		name = "with labels " + t.selector
	}
	if t.namespace == "" {
		return t.gvk.Kind + " " + name
	}
	return fmt.Sprintf("%s %s in namespace %s", t.gvk.Kind, name, t.namespace)
}

// namer finds out what one resource refers to.
type namer struct{ obj *unstructured.Unstructured }

// object returns the target of a reference by name; none when the fields it is made of are not there.
func (n namer) object(gvk schema.GroupVersionKind, name, namespace watches.Template) (target, *input.Refusal) {
	text, found, refusal := n.expand(name)
	if refusal != nil || !found {
		return target{}, refusal
	}
	if problems := content.IsPathSegmentName(text); len(problems) > 0 || len(text) > validation.DNS1123SubdomainMaxLength {
		return target{}, refuse(ReasonInvalidReference, name, "%q cannot be the name of a %s", shorten(text), gvk.Kind)
	}
	t := target{gvk: gvk, name: text}
	t.namespace, found, refusal = n.namespace(namespace)
	if refusal != nil || !found {
		return target{}, refusal
	}
	return t, nil
}

// selected returns the target of a reference by labels.
func (n namer) selected(gvk schema.GroupVersionKind, r watches.Related) (target, *input.Refusal) {
	selector, found, err := r.Selector.Expand(n.obj.Object, nil)
	if err != nil {
		return target{}, refuse(ReasonInvalidReference, watches.Template{}, "the selector of %s: %v", r.As, err)
	}
	if !found {
		return target{}, nil
	}
	labels, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return target{}, refuse(ReasonInvalidReference, watches.Template{}, "the selector of %s: %v", r.As, err)
	}
	t := target{gvk: gvk, selector: labels.String()}
	namespace, found, refusal := n.namespace(r.Namespace)
	if refusal != nil || !found {
		return target{}, refusal
	}
	t.namespace = namespace
	return t, nil
}

// namespace returns where to look. Whoever may write a resource must not get at what lies in other namespaces, which the
// operator may read and they may not: only a namespace that stands in the watches file itself can be another one.
func (n namer) namespace(t watches.Template) (namespace string, found bool, refusal *input.Refusal) {
	own := n.obj.GetNamespace()
	if t.IsZero() {
		return own, true, nil
	}
	text, found, refusal := n.expand(t)
	switch {
	case refusal != nil || !found:
		return "", false, refusal
	case !t.Literal() && text != own:
		return "", false, refuse(ReasonCrossNamespace, t, "a resource may refer to its own namespace only, not to %q", shorten(text))
	case len(validation.IsDNS1123Label(text)) > 0:
		return "", false, refuse(ReasonInvalidReference, t, "%q cannot be a namespace", shorten(text))
	}
	return text, true, nil
}

func (n namer) expand(t watches.Template) (text string, found bool, refusal *input.Refusal) {
	text, found, err := t.Expand(n.obj.Object)
	if err != nil {
		return "", false, refuse(ReasonInvalidReference, t, "%v", err)
	}
	return text, found, nil
}

// refuse says what is wrong with what a template of the watches file gives.
func refuse(reason string, t watches.Template, format string, args ...any) *input.Refusal {
	where := t.String()
	if where == "" {
		where = "spec"
	}
	return &input.Refusal{Reason: reason, Path: where, Message: fmt.Sprintf(format, args...)}
}

// shorten cuts what somebody wrote to what a message needs.
func shorten(text string) string {
	const longest = 64
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "..."
	}
	return text
}
