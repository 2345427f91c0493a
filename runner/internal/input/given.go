package input

import (
	"maps"
	"slices"
)

// Given is what a run gets from objects that its resource refers to.
type Given struct {
	// Objects are variables that hold an object, or a list of them; nil for one that is missing.
	Objects map[string]any
	// Values are taken from Secrets and ConfigMaps, in the order of the watches file.
	Values []Value
}

// Value is one of them.
type Value struct {
	// Name is the variable of a playbook or role.
	Name string
	// Path is where in a chart's values it goes. Empty means that Data is a mapping to be merged.
	Path []string
	// Data is text or a mapping.
	Data any
	// There is false for one that is missing and may be.
	There bool
}

// variables returns the variables of a playbook or role. Ansible evaluates none of them, whatever the watch says of the
// resource: a password with braces in it is a password.
func (g Given) variables() (map[string]any, *Refusal) {
	vars := map[string]any{}
	maps.Copy(vars, g.Objects)
	for _, value := range g.Values {
		vars[value.Name] = nil
		if value.There {
			vars[value.Name] = value.Data
		}
	}
	return firstFault(func(walk walk) (map[string]any, *Refusal) {
		return copier{unsafe: true, walk: walk}.mapping(vars, 0)
	})
}

// base returns the values of a chart that the spec is laid over.
func (g Given) base() map[string]any {
	values := map[string]any{}
	for _, value := range g.Values {
		if !value.There {
			continue
		}
		data := clone(value.Data)
		for _, v := range slices.Backward(value.Path) {
			data = map[string]any{v: data}
		}
		if mapping, ok := data.(map[string]any); ok {
			merge(values, mapping)
		}
	}
	return values
}
