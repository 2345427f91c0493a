package watches

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/chartbook-operator/chartbook/runner/internal/condition"
	"github.com/chartbook-operator/chartbook/runner/internal/fieldpath"
)

// Trigger says which changes wake a resource. Creation, deletion, entering or leaving the selector, and the annotations
// chartbook.dev/... do in any case.
type Trigger struct {
	// Fields are the paths of which one must have changed, like spec.size; see docs/watches.md for their syntax. Empty
	// means that every change outside metadata and status counts.
	Fields []string `json:",omitempty"`
	// When is a CEL expression over self and oldSelf that must be true for a change to count. Empty means true.
	When string `json:",omitempty"`
	// Labels and Annotations are those whose changes count, too.
	Labels      Choice `json:",omitzero"`
	Annotations Choice `json:",omitzero"`
	// ChildStatus are the kinds of children that wake their owner when their status changes and when somebody creates
	// one: Job, or with its group Job.batch.
	ChildStatus Choice `json:",omitzero"`
}

// Choice is all names of a sort, or some. The zero value is none.
type Choice struct {
	All  bool     `json:",omitempty"`
	Some []string `json:",omitempty"` // without meaning when All is set
}

// Includes reports whether a name was chosen.
func (c Choice) Includes(name string) bool { return c.All || slices.Contains(c.Some, name) }

// None reports whether nothing was chosen.
func (c Choice) None() bool { return !c.All && len(c.Some) == 0 }

const (
	triggerName = "trigger"
	// maxChoices bounds the paths or names of one list.
	maxChoices = 64
	// ownAnnotations begin the annotations by which people steer a resource.
	ownAnnotations = "chartbook.dev/"
)

func triggerKey() entryKey {
	return entryKey{KeyDoc: KeyDoc{Key: triggerName, Type: "mapping", Default: "every change of the spec", Content: forAll,
		Doc: "Which changes wake a resource."},
		nested: []KeyDoc{
			{Key: "trigger.fields", Type: "list of paths", Default: "the whole spec", Content: forAll,
				Doc: "The places in the resource of which one must have changed."},
			{Key: "trigger.when", Type: "CEL expression", Default: "true", Content: forAll,
				Doc: "What must be true of the resource (self) and its state before (oldSelf) for a change to count."},
			{Key: "trigger.labels", Type: "boolean or list of keys", Default: "false", Content: forAll,
				Doc: "Labels whose change starts a run."},
			{Key: "trigger.annotations", Type: "boolean or list of keys", Default: "false", Content: forAll,
				Doc: "Annotations whose change starts a run."},
			{Key: "trigger.childStatus", Type: "boolean or list of kinds", Default: "false", Content: forAll,
				Doc: "Kinds of children that start a run when their status changes or somebody creates one."},
		}, read: readTrigger}
}

func readTrigger(e *entry, n *yaml.Node, key string) {
	t := &e.watch.Trigger
	names := []string{"fields", "when", "labels", "annotations", "childStatus"}
	e.eachField(n, key, names, func(name string, value *yaml.Node, path string) {
		e.set[path] = value
		switch name {
		case "fields":
			t.Fields = e.fieldPaths(value, path)
		case "when":
			t.When = e.condition(value, path)
		case "labels":
			t.Labels = e.choice(value, path, e.labelKey)
		case "annotations":
			t.Annotations = e.choice(value, path, e.annotationKey)
		case "childStatus":
			t.ChildStatus = e.choice(value, path, e.childKind)
		}
	})
}

// fieldPaths reads the paths that must have changed. A list without any would be a watch that no change wakes.
func (e *entry) fieldPaths(n *yaml.Node, path string) []string {
	var fields []string
	e.someItems(n, path, func(item *yaml.Node, path string) {
		text, ok := e.textValue(item, path)
		if !ok {
			return
		}
		field, err := fieldpath.Parse(text)
		if err != nil {
			e.failf(item, path, "write a path like spec.size", "%q is no path: %v", text, err)
			return
		}
		if e.checkPlace(item, path, field) {
			fields = append(fields, field.String())
		}
	})
	if list := follow(n); list.Kind == yaml.SequenceNode && len(list.Content) == 0 {
		e.failf(n, path, "name one, or remove the key for the whole spec", "%s has no paths, so that no change would count", path)
	}
	return fields
}

// checkPlace refuses paths to places that never count, or that have a key of their own.
func (e *entry) checkPlace(n *yaml.Node, path string, field fieldpath.Path) bool {
	switch root := field[0].Key; {
	case root != "spec" && nearest(root, []string{"spec"}) != "":
		e.failf(n, path, "did you mean spec?", "%s: a resource has no %s", field, root)
	case root != "metadata" && nearest(root, []string{"metadata"}) != "":
		e.failf(n, path, "did you mean metadata?", "%s: a resource has no %s", field, root)
	case root == "status":
		e.failf(n, path, "use childStatus to follow children", "%s: a change of status never counts, since the operator writes it itself", field)
	case root == "metadata" && !oneOf(field, "labels") && !oneOf(field, "annotations"):
		e.failf(n, path, `write metadata.labels.KEY or metadata.annotations["KEY"]; for all of them use labels: true or annotations: true`,
			"%s: of metadata only single labels and annotations count", field)
	case root == "metadata" && strings.HasPrefix(field[2].Key, ownAnnotations):
		e.failf(n, path, "remove it", "%s: the annotations %s... always count", field, ownAnnotations)
	default:
		return true
	}
	return false
}

// oneOf reports whether a path leads to one key of a part of metadata.
func oneOf(field fieldpath.Path, part string) bool {
	return len(field) == 3 && field[1].Kind == fieldpath.Key && field[1].Key == part && field[2].Kind == fieldpath.Key
}

// condition reads a CEL expression.
func (e *entry) condition(n *yaml.Node, path string) string {
	text, ok := e.textValue(n, path)
	if !ok || null(n) {
		return ""
	}
	err := e.compile(text)
	if err == nil {
		return text
	}
	place := ""
	var wrong *condition.Error
	if errors.As(err, &wrong) && wrong.Line > 0 {
		place = fmt.Sprintf(" at character %d", wrong.Column)
		if strings.Contains(strings.TrimSpace(text), "\n") {
			place += fmt.Sprintf(" of its line %d", wrong.Line)
		}
	}
	e.failf(n, path, "write something like self.spec.size > oldSelf.spec.size", "%s is wrong%s: %v", path, place, err)
	return ""
}

func (d *decoder) compile(text string) error {
	err, known := d.compiled[text]
	if !known {
		if d.compiled == nil {
			d.compiled = map[string]error{}
		}
		_, err = condition.Compile(text)
		d.compiled[text] = err
	}
	return err
}

// choice reads true, false or a list of names.
func (e *entry) choice(n *yaml.Node, path string, check func(n *yaml.Node, path, name string) bool) Choice {
	if list := follow(n); list.Kind == yaml.ScalarNode {
		all, _ := e.boolValue(n, path)
		return Choice{All: all}
	} else if list.Kind == yaml.MappingNode {
		e.failf(n, path, "", "%s must be true, false or a list", path)
		return Choice{}
	}
	var names []string
	e.someItems(n, path, func(item *yaml.Node, path string) {
		if name, ok := e.textValue(item, path); ok && check(item, path, name) {
			names = append(names, name)
		}
	})
	return Choice{Some: names}
}

// someItems reads the items of a list that is not too long.
func (e *entry) someItems(n *yaml.Node, path string, read func(item *yaml.Node, path string)) {
	if list := follow(n); list.Kind == yaml.SequenceNode && len(list.Content) > maxChoices {
		e.failf(n, path, "", "%s has more than %d items", path, maxChoices)
		return
	}
	e.eachItem(n, path, read)
}

func (e *entry) labelKey(n *yaml.Node, path, name string) bool {
	if len(validation.IsQualifiedName(name)) > 0 {
		e.failf(n, path, "write one like tier or example.com/tier", "%q cannot be the key of a label", name)
		return false
	}
	return true
}

func (e *entry) annotationKey(n *yaml.Node, path, name string) bool {
	switch {
	case len(validation.IsQualifiedName(strings.ToLower(name))) > 0:
		e.failf(n, path, "write one like example.com/note", "%q cannot be the key of an annotation", name)
		return false
	case strings.HasPrefix(name, ownAnnotations):
		e.warnf(n, path, "remove it", "the annotations %s... always count", ownAnnotations)
	}
	return true
}

// childName is a kind, or kind.group.
var childName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`)

func (e *entry) childKind(n *yaml.Node, path, name string) bool {
	if !childName.MatchString(name) {
		e.failf(n, path, "write one like Job or Job.batch", "%q cannot be a kind", name)
		return false
	}
	return true
}

// checkTrigger tells of parts of a trigger that have no effect beside other keys.
func (e *entry) checkTrigger() {
	t := e.watch.Trigger
	if !t.ChildStatus.None() && !e.watch.WatchDependentResources {
		e.warnf(e.at("trigger.childStatus"), "trigger.childStatus", "remove one of the two",
			"trigger.childStatus has no effect beside watchDependentResources: false")
	}
	custom := strings.Contains(strings.TrimSuffix(e.watch.GVK.Group, ".k8s.io"), ".")
	for _, field := range t.Fields {
		if root := fieldRoot.FindString(field); custom && root != "spec" && root != "metadata" {
			e.warnf(e.at("trigger.fields"), "trigger.fields", "did you mean spec."+field+"?", "%s: most resources have no %s", field, root)
		}
	}
}

// fieldRoot is the first key of a path.
var fieldRoot = regexp.MustCompile(`^[^.[]+`)
