package input

import "strings"

// unsafeKey is how Ansible's JSON reader is told not to evaluate a string.
const unsafeKey = "__ansible_unsafe"

// markerPrefix begins the keys that Ansible's JSON reader gives a meaning: it decrypts __ansible_vault with the operator's
// own vault password. Such a key cannot be handed over as data, so that a resource must not have one.
const markerPrefix = "__ansible_"

// maxDepth bounds how deep lists and mappings may nest. Ansible's reader and its templates take about twice as many.
const maxDepth = 200

// copier copies a resource for Ansible.
type copier struct {
	// unsafe marks strings so that Ansible does not evaluate them.
	unsafe bool
	// walk gives the order in which keys are taken.
	walk walk
}

// value copies a value of any shape.
func (c copier) value(v any, depth int) (any, *Refusal) {
	if depth > maxDepth {
		return nil, refuse(ReasonTooDeep, "lists and mappings nest more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		return c.mapping(v, depth)
	case []any:
		return c.list(v, depth)
	case string:
		if c.unsafe {
			return unsafe(v), nil
		}
	}
	return v, nil
}

func (c copier) list(list []any, depth int) ([]any, *Refusal) {
	copied := make([]any, len(list))
	for i, item := range list {
		value, refusal := c.value(item, depth+1)
		if refusal != nil {
			return nil, refusal.under(index(i))
		}
		copied[i] = value
	}
	return copied, nil
}

func (c copier) mapping(m map[string]any, depth int) (map[string]any, *Refusal) {
	copied := make(map[string]any, len(m))
	for key, item := range c.walk(m) {
		if strings.HasPrefix(key, markerPrefix) {
			return nil, refuse(ReasonReservedVariable, "keys that begin with %s mean something to Ansible and cannot be data", markerPrefix).under(shown(key))
		}
		value, refusal := c.value(item, depth+1)
		if refusal != nil {
			return nil, refusal.under(shown(key))
		}
		copied[key] = value
	}
	return copied, nil
}

// unsafe marks a string so that Ansible does not evaluate it.
func unsafe(s string) map[string]any { return map[string]any{unsafeKey: s} }

// isMarked tells what unsafe made from a mapping of the resource, which cannot have the key.
func isMarked(m map[string]any) bool {
	_, marked := m[unsafeKey]
	return marked
}

// clone copies a value as it is.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v))
		for key, value := range v {
			copied[key] = clone(value)
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, item := range v {
			copied[i] = clone(item)
		}
		return copied
	}
	return v
}
