package input

import (
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// Values returns the values of a chart for a resource: what comes from objects that it refers to, its spec over that, and
// over it the watch's override values in their order. The resource is not changed and shares nothing with the result. A
// spec that is missing or null counts as empty; one that is no mapping, or that sets the key of a related object, gives
// a [*Refusal].
//
// An override reaches into what the spec has, like Helm's --set does: list[0].name changes one item and leaves the others.
// Where the spec holds something of another shape in its way, the override wins.
func Values(obj map[string]any, w watches.Watch, given Given) (map[string]any, error) {
	values := given.base()
	if refusal := checkSpec(obj); refusal != nil {
		return nil, refusal
	}
	if spec, ok := obj["spec"].(map[string]any); ok {
		for key := range inOrder(spec) {
			if givenNames(w)[key] {
				return nil, refuse(ReasonVariableClash, "the operator itself sets the value, from an object that the resource refers to").
					under(shown(key)).under("spec")
			}
		}
		copied, _ := clone(spec).(map[string]any)
		merge(values, copied)
	}
	for name, object := range given.Objects {
		values[name] = clone(object)
	}
	for _, override := range w.OverrideValues {
		if err := lay(override, values); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// lay lays one override over values.
func lay(override watches.OverrideValue, values map[string]any) error {
	if override.Apply(values) == nil {
		return nil
	}
	alone := map[string]any{}
	if err := override.Apply(alone); err != nil {
		return err
	}
	merge(values, alone)
	return nil
}

// merge lays mappings over one another; anything else of over replaces what is below.
func merge(below, over map[string]any) {
	for key, value := range over {
		inner, isMapping := value.(map[string]any)
		lower, wasMapping := below[key].(map[string]any)
		if isMapping && wasMapping {
			merge(lower, inner)
			continue
		}
		below[key] = value
	}
}
