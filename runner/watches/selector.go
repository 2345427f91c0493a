package watches

import (
	"strings"

	"gopkg.in/yaml.v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// readSelector reads a label selector and checks that it can be used.
func readSelector(e *entry, n *yaml.Node, key string) {
	failures := e.errors.count()
	e.eachField(n, key, []string{"matchLabels", "matchExpressions"}, func(name string, value *yaml.Node, path string) {
		switch name {
		case "matchLabels":
			e.watch.Selector.MatchLabels = e.labels(value, path)
		case "matchExpressions":
			e.eachItem(value, path, func(item *yaml.Node, path string) {
				e.watch.Selector.MatchExpressions = append(e.watch.Selector.MatchExpressions, e.labelExpression(item, path))
			})
		}
	})
	if e.errors.count() > failures {
		return
	}
	if _, err := metav1.LabelSelectorAsSelector(&e.watch.Selector); err != nil {
		e.failf(n, key, "", "%s: %v", key, err)
	}
}

func (d *decoder) labels(n *yaml.Node, path string) map[string]string {
	if null(n) {
		return nil
	}
	if follow(n).Kind != yaml.MappingNode {
		d.failf(n, path, "", "%s must be a mapping of labels to values", path)
		return nil
	}
	labels := map[string]string{}
	for _, f := range d.fields(n, path, exactly) {
		labels[f.name], _ = d.textValue(f.value, join(path, f.name))
	}
	return labels
}

func (d *decoder) labelExpression(n *yaml.Node, path string) metav1.LabelSelectorRequirement {
	var expression metav1.LabelSelectorRequirement
	d.eachField(n, path, []string{"key", "operator", "values"}, func(name string, value *yaml.Node, path string) {
		switch name {
		case "key":
			expression.Key, _ = d.textValue(value, path)
		case "operator":
			operator, _ := d.textValue(value, path)
			expression.Operator = metav1.LabelSelectorOperator(operator)
		case "values":
			d.eachItem(value, path, func(item *yaml.Node, path string) {
				text, _ := d.textValue(item, path)
				expression.Values = append(expression.Values, text)
			})
		}
	})
	return expression
}

// readBlacklist reads kinds. One that lacks a part never excluded anything, so that old files may have it.
func readBlacklist(e *entry, n *yaml.Node, key string) {
	e.eachItem(n, key, func(item *yaml.Node, path string) {
		var gvk schema.GroupVersionKind
		place := map[string]*string{"group": &gvk.Group, "version": &gvk.Version, "kind": &gvk.Kind}
		e.eachField(item, path, []string{"group", "version", "kind"}, func(name string, value *yaml.Node, path string) {
			*place[name], _ = e.textValue(value, path)
		})
		if gvk.Version == "" || gvk.Kind == "" {
			e.warnf(item, path, "add it", "the blacklist excludes nothing here, since version or kind is missing")
			return
		}
		e.watch.Blacklist = append(e.watch.Blacklist, gvk)
	})
}

// eachField calls read for each key of a mapping that is in names, with the name as it is there.
func (d *decoder) eachField(n *yaml.Node, path string, names []string, read func(name string, value *yaml.Node, path string)) {
	if null(n) {
		return
	}
	if follow(n).Kind != yaml.MappingNode {
		d.failf(n, path, "its keys are "+strings.Join(names, ", "), "%s must be a mapping", path)
		return
	}
	for _, f := range d.fields(n, path, strings.ToLower) {
		known := false
		for _, name := range names {
			if known = strings.EqualFold(f.name, name); known {
				d.spelling(f, name)
				read(name, f.value, join(path, name))
				break
			}
		}
		if !known {
			d.unknownKey(f, path, names)
		}
	}
}

// eachItem calls read for each item of a list. A null is an empty list.
func (d *decoder) eachItem(n *yaml.Node, path string, read func(item *yaml.Node, path string)) {
	if null(n) {
		return
	}
	list := follow(n)
	if list.Kind != yaml.SequenceNode {
		d.failf(n, path, "put - before each item", "%s must be a list", path)
		return
	}
	for _, item := range list.Content {
		if !d.count(item, path) {
			return
		}
		read(item, path+"[]")
	}
}
