package watches

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	relatedKey    = "related"
	varsFromKey   = "varsFrom"
	valuesFromKey = "valuesFrom"
	vaultKey      = "vaultPasswordSecretRef"
	envKey        = "env"
)

// templateValue reads text with fields of the resource in it.
func (d *decoder) templateValue(n *yaml.Node, path string) Template {
	if node := follow(n); node.Kind == yaml.MappingNode && len(node.Content) > 0 && node.Content[0].Kind == yaml.MappingNode {
		d.failf(n, path, "put it in quotes, since YAML takes braces for a mapping", "%s must be text", path)
		return Template{}
	}
	written, ok := d.textValue(n, path)
	if !ok {
		return Template{}
	}
	t, err := ParseTemplate(written)
	if err != nil {
		d.failf(n, path, "", "%s: %v", path, err)
	}
	return t
}

// literalValue reads text that must be the same for all resources.
func (d *decoder) literalValue(n *yaml.Node, path string) string {
	written, _ := d.textValue(n, path)
	if strings.Contains(written, "{{") {
		d.failf(n, path, "write it out", "%s cannot come from the resource", path)
	}
	return written
}

func (d *decoder) boolOr(n *yaml.Node, path string, byDefault bool) bool {
	if value, ok := d.boolValue(n, path); ok {
		return value
	}
	return byDefault
}

var relatedNames = []string{"apiVersion", "kind", "name", "selector", "namespace", "as", "optional", "watchStatus"}

func readRelated(e *entry, n *yaml.Node, key string) {
	e.eachItem(n, key, func(item *yaml.Node, path string) {
		var r Related
		nodes := map[string]*yaml.Node{}
		failures := e.errors.count()
		e.eachField(item, path, relatedNames, func(name string, value *yaml.Node, path string) {
			nodes[name] = value
			e.readRelatedField(&r, name, value, path)
		})
		if e.errors.count() == failures && e.checkRelated(item, path, r) {
			e.named(orNode(nodes["as"], item), path+".as", r.As, r.Name, r.Namespace)
			e.watch.Related = append(e.watch.Related, r)
		}
	})
}

func (e *entry) readRelatedField(r *Related, name string, value *yaml.Node, path string) {
	switch name {
	case "apiVersion":
		r.APIVersion = e.literalValue(value, path)
		if gv, err := schema.ParseGroupVersion(r.APIVersion); err != nil || gv.Version == "" {
			e.failf(value, path, "write it like v1 or apps/v1", "%s: %q is no API version", path, r.APIVersion)
		}
	case "kind":
		r.Kind = e.literalValue(value, path)
	case "name":
		r.Name = e.templateValue(value, path)
	case "selector":
		r.Selector = e.relatedSelector(value, path)
	case "namespace":
		r.Namespace = e.templateValue(value, path)
	case "as":
		r.As = e.literalValue(value, path)
	case "optional":
		r.Optional = e.boolOr(value, path, false)
	case "watchStatus":
		r.WatchStatus = e.boolOr(value, path, false)
	}
}

// checkRelated reports what an item lacks.
func (e *entry) checkRelated(item *yaml.Node, path string, r Related) bool {
	switch {
	case r.APIVersion == "":
		e.failf(item, path+".apiVersion", "add it", "%s has no apiVersion", path)
	case r.Kind == "":
		e.failf(item, path+".kind", "add it", "%s has no kind", path)
	case r.As == "":
		e.failf(item, path+".as", "add the name of a variable", "%s has no as", path)
	case r.Name.IsZero() == (r.Selector == nil):
		e.failf(item, path, "keep one of them", "%s needs a name or a selector", path)
	default:
		return true
	}
	return false
}

// relatedSelector reads a selector whose values are templates, and checks it with a value in the place of each field.
func (e *entry) relatedSelector(n *yaml.Node, path string) *RelatedSelector {
	if null(n) {
		return nil
	}
	s := &RelatedSelector{}
	failures := e.errors.count()
	e.eachField(n, path, []string{"matchLabels", "matchExpressions"}, func(name string, value *yaml.Node, path string) {
		if name == "matchLabels" {
			s.MatchLabels = map[string]Template{}
			for label, written := range e.labels(value, path) {
				s.MatchLabels[label] = e.parsed(value, join(path, label), written)
			}
			return
		}
		e.eachItem(value, path, func(item *yaml.Node, path string) {
			read := e.labelExpression(item, path)
			expression := RelatedExpression{Key: read.Key, Operator: string(read.Operator)}
			for _, written := range read.Values {
				expression.Values = append(expression.Values, e.parsed(item, path+".values", written))
			}
			s.MatchExpressions = append(s.MatchExpressions, expression)
		})
	})
	if e.errors.count() == failures {
		selector, _, err := s.Expand(nil, func(Template) (string, bool, error) { return "x", true, nil })
		if err == nil {
			_, err = metav1.LabelSelectorAsSelector(&selector)
		}
		if err != nil {
			e.failf(n, path, "", "%s: %v", path, err)
		}
	}
	return s
}

// parsed makes a template of text that was read before.
func (e *entry) parsed(n *yaml.Node, path, written string) Template {
	t, err := ParseTemplate(written)
	if err != nil {
		e.failf(n, path, "", "%s: %v", path, err)
	}
	return t
}

// Expand puts the fields of a resource in. expand is for values that hold some; nil means [Template.Expand]. found is
// false when a field is missing. The error says which field cannot be a label's value.
func (s *RelatedSelector) Expand(obj map[string]any, expand func(Template) (string, bool, error)) (selector metav1.LabelSelector, found bool, err error) {
	if expand == nil {
		expand = func(t Template) (string, bool, error) { return t.Expand(obj) }
	}
	value := func(t Template) (string, bool, error) {
		if t.Literal() {
			return t.String(), true, nil // may be empty
		}
		return expand(t)
	}
	selector.MatchLabels = map[string]string{}
	for _, label := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		text, found, err := value(s.MatchLabels[label])
		if err != nil || !found {
			return selector, false, err
		}
		selector.MatchLabels[label] = text
	}
	for _, expression := range s.MatchExpressions {
		requirement := metav1.LabelSelectorRequirement{Key: expression.Key, Operator: metav1.LabelSelectorOperator(expression.Operator)}
		for _, t := range expression.Values {
			text, found, err := value(t)
			if err != nil || !found {
				return selector, false, err
			}
			requirement.Values = append(requirement.Values, text)
		}
		selector.MatchExpressions = append(selector.MatchExpressions, requirement)
	}
	return selector, true, nil
}

func orNode(n, other *yaml.Node) *yaml.Node {
	if n == nil {
		return other
	}
	return n
}

// variablePattern is what Ansible and charts take for a name without further ado.
var variablePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// meaningful are variables that mean something to Ansible.
var meaningful = map[string]bool{
	"vars": true, "hostvars": true, "groups": true, "group_names": true, "inventory_hostname": true,
	"inventory_hostname_short": true, "inventory_dir": true, "inventory_file": true, "playbook_dir": true,
	"role_name": true, "role_names": true, "role_path": true, "play_hosts": true, "omit": true, "item": true,
	"environment": true, "lookup": true, "query": true, "q": true, "undef": true,
}

// named reports a variable's name that cannot be used, or that is given twice, or that every resource which refers to
// something sets itself by doing so.
func (e *entry) named(n *yaml.Node, path, name string, from ...Template) {
	switch {
	case slices.ContainsFunc(from, func(t Template) bool { return t.reads(name) }):
		e.failf(n, path, "choose another name", "%s: spec.%s, which names the object, sets a variable %s already", path, name, name)
	case !variablePattern.MatchString(name):
		e.failf(n, path, "use letters, digits and underscores", "%s: %q cannot be the name of a variable", path, name)
	case strings.HasPrefix(name, "ansible_") || strings.HasPrefix(name, "chartbook_") || meaningful[name]:
		e.failf(n, path, "choose another name", "%s: the name %s is reserved", path, name)
	case e.names[name]:
		e.failf(n, path, "choose another name", "%s: the name %s is used twice", path, name)
	}
	if e.names == nil {
		e.names = map[string]bool{}
	}
	e.names[name] = true
}
