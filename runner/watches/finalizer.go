package watches

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/util/validation"
)

// readFinalizer reads what runs at deletion. A null is no finalizer.
func readFinalizer(e *entry, n *yaml.Node, key string) {
	if null(n) {
		delete(e.set, key)
		return
	}
	if follow(n).Kind != yaml.MappingNode {
		e.failf(n, key, "write name: and playbook:, role: or vars: below it", "%s must be a mapping", key)
		return
	}
	finalizer := &Finalizer{}
	e.watch.Finalizer = finalizer
	names := []string{"name", "playbook", "role", varsKey}
	for _, f := range e.fields(n, key, strings.ToLower) {
		place := map[string]*string{"name": &finalizer.Name, "playbook": &finalizer.Playbook, "role": &finalizer.Role}
		name := strings.ToLower(f.name)
		path := join(key, name)
		switch {
		case name == varsKey:
			finalizer.Vars = e.variables(f.value, path)
		case place[name] != nil:
			if value, ok := e.textValue(f.value, path); ok {
				*place[name] = value
			}
		default:
			e.unknownKey(f, key, names)
			continue
		}
		e.spelling(f, name)
		e.set[path] = f.value
	}
}

// resolveFinalizer checks the finalizer's name and finds its playbook or role.
func (e *entry) resolveFinalizer() {
	finalizer := e.watch.Finalizer
	if finalizer == nil {
		return
	}
	if e.watch.Chart != "" {
		e.watch.Finalizer = nil // checkEffect tells; Helm has a finalizer of its own
		return
	}
	e.checkFinalizerName(finalizer.Name)
	if finalizer.Playbook != "" && finalizer.Role != "" {
		e.warnf(e.at("finalizer.role"), "finalizer.role", "remove the role", "the finalizer's role is not used, since the playbook beside it wins")
		finalizer.Role = ""
	}
	if finalizer.Playbook != "" {
		finalizer.Playbook = e.playbook(e.at("finalizer.playbook"), "finalizer.playbook", finalizer.Playbook)
	}
	if finalizer.Role != "" {
		finalizer.Role, finalizer.RoleName = e.role(e.at("finalizer.role"), "finalizer.role", finalizer.Role)
	}
}

func (e *entry) checkFinalizerName(name string) {
	const key = "finalizer.name"
	switch {
	case name == "":
		e.failf(e.at("finalizer"), key, "add one like "+e.exampleFinalizer(), "the finalizer has no name")
	case len(validation.IsQualifiedName(name)) > 0:
		e.failf(e.at(key), key, "write one like "+e.exampleFinalizer(), "%q cannot be a finalizer's name", name)
	case !strings.Contains(name, "/"):
		e.notef(e.at(key), key, "for a new operator write one like "+e.exampleFinalizer(),
			"the finalizer's name %q has no domain, so that another operator may use it too", name)
	}
}

func (e *entry) exampleFinalizer() string {
	group := e.watch.GVK.Group
	if len(validation.IsDNS1123Subdomain(group)) > 0 {
		group = "example.com"
	}
	return group + "/cleanup"
}

// reservedVariables are set for every run and cannot be set in the file.
var reservedVariables = []string{"chartbook_run"}

// variableForm is how Ansible's variables are called.
var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variables reads extra variables. A null is none.
func (d *decoder) variables(n *yaml.Node, path string) map[string]any {
	if null(n) {
		return nil
	}
	if follow(n).Kind != yaml.MappingNode {
		d.failf(n, path, "", "%s must be a mapping of names to values", path)
		return nil
	}
	vars, _ := d.anyValue(n, path, 0).(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !variableForm.MatchString(name) {
			d.warnf(n, join(path, strconv.Quote(name)), "use letters, digits and underscores, no digit first",
				"%s: %q is no name of a variable, so that no playbook can use it", path, name)
		}
	}
	for _, name := range reservedVariables {
		if _, ok := vars[name]; ok {
			d.failf(n, join(path, name), "choose another name", "%s: the operator itself sets %s", path, name)
		}
	}
	return vars
}
