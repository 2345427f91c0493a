package watches

import (
	"fmt"
	"text/template"

	"gopkg.in/yaml.v3"
)

const (
	// maxDepth bounds how deep lists and mappings may nest, also through aliases.
	maxDepth = 100
	// maxNodes bounds how many values a file stands for when its aliases are followed.
	maxNodes = 1 << 18
)

// decoder turns the nodes of one file into watches and problems.
type decoder struct {
	source   source
	options  Options
	errors   problemList
	warnings problemList
	nodes    int // values read so far
	// overrides is what templates in override values are parsed from; see renderOverride.
	overrides *template.Template
	// compiled are the errors of the conditions that were compiled so far, by expression: an alias repeats one for nothing.
	compiled map[string]error
	// templated are the watches for which the file leaves open whether Jinja in a resource is evaluated.
	templated []*entry
}

// failf reports an error at a node.
func (d *decoder) failf(n *yaml.Node, key, hint, format string, args ...any) {
	d.reportf(&d.errors, n, Problem{Key: key, Hint: hint}, format, args...)
}

// warnf reports what old files are allowed to have but strict mode refuses.
func (d *decoder) warnf(n *yaml.Node, key, hint, format string, args ...any) {
	d.reportf(d.warningList(), n, Problem{Key: key, Hint: hint}, format, args...)
}

// warningList is where warnings go that strict mode takes for errors.
func (d *decoder) warningList() *problemList {
	if d.options.Strict {
		return &d.errors
	}
	return &d.warnings
}

// notef reports what is worth knowing and no fault of the file.
func (d *decoder) notef(n *yaml.Node, key, hint, format string, args ...any) {
	d.reportf(&d.warnings, n, Problem{Key: key, Hint: hint}, format, args...)
}

// reportf adds a problem to a list that has room for it; to place and word one costs time.
func (d *decoder) reportf(list *problemList, n *yaml.Node, p Problem, format string, args ...any) {
	if !list.full() {
		p.Position = d.source.position(n.Line, n.Column)
		p.Message = fmt.Sprintf(format, args...)
	}
	list.add(p)
}

// lineOf prints the line of a node, and looks for it only then.
type lineOf struct {
	source source
	node   *yaml.Node
}

func (l lineOf) String() string {
	return fmt.Sprint("line ", l.source.position(l.node.Line, l.node.Column).Line)
}

// count counts a value that is read, and reports false when aliases make the file stand for too many.
func (d *decoder) count(n *yaml.Node, path string) bool {
	d.nodes++
	if d.nodes == maxNodes {
		d.failf(n, path, "use fewer aliases", "the file stands for more than %d values", maxNodes)
	}
	return d.nodes < maxNodes
}

// join makes the path of a key in a mapping.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
