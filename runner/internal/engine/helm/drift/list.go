package drift

import (
	"fmt"
	"maps"
	"slices"
)

func (d *differ) listField(path string, want []any, live any, r rule, parent schema) (any, bool) {
	current, ok := live.([]any)
	if !ok {
		if live == nil && len(want) == 0 {
			return nil, false
		}
		return d.differs(path, withoutNulls(want))
	}
	switch r = r.orGuess(path, want, current, parent); {
	case r.merge && r.mergeKey != "" && distinct(want, r.mergeKey) && distinct(current, r.mergeKey):
		return d.keyedList(path, want, current, r)
	case r.merge && r.mergeKey == "" && d.strategic:
		return d.set(path, want, current)
	default:
		return d.plainList(path, want, current, r.merge)
	}
}

// orGuess returns how to merge a list of a kind whose lists nobody described: owners by identity, and other objects
// by name, which is how nearly every list of objects tells its items apart.
func (r rule) orGuess(path string, want, live []any, parent schema) rule {
	switch {
	case path == "metadata.ownerReferences":
		r.mergeKey, r.merge = "uid", true
	case r.mergeKey == "" && !parent.known() && distinct(want, "name") && distinct(live, "name"):
		r.mergeKey, r.merge = "name", true
	}
	return r
}

// plainList is for lists that are one value. Items may have more fields than wanted, since the API server fills in
// defaults.
func (d *differ) plainList(path string, want, live []any, merge bool) (any, bool) {
	same := len(want) == len(live)
	for i := 0; same && i < len(want); i++ {
		same = contains(want[i], live[i])
	}
	if same || merge && allIn(want, live) {
		return nil, false
	}
	value, _ := d.differs(path, withoutNulls(want))
	if d.strategic && merge { // else the strategic patch would merge what cannot be told apart
		items, _ := value.([]any)
		return append([]any{map[string]any{"$patch": "replace"}}, items...), true
	}
	return value, true
}

// set is for lists of scalars to which others may add.
func (d *differ) set(path string, want, live []any) (any, bool) {
	var missing []any
	for _, item := range want {
		if !slices.ContainsFunc(live, func(l any) bool { return contains(item, l) }) {
			missing = append(missing, item)
		}
	}
	if missing == nil {
		return nil, false
	}
	return d.differs(path, missing)
}

// keyedList is for lists whose items are told apart by one field. Items of others survive.
func (d *differ) keyedList(path string, want, live []any, r rule) (any, bool) {
	patches, result, missing := []any{}, slices.Clone(live), false
	for _, item := range want {
		wanted := fieldsOf(item)
		id := wanted[r.mergeKey]
		itemPath := fmt.Sprintf("%s[%s=%v]", path, r.mergeKey, id)
		at := slices.IndexFunc(live, func(l any) bool { return equal(fieldsOf(l)[r.mergeKey], id) })
		if at < 0 {
			value, _ := d.differs(itemPath, withoutNulls(item))
			patches, result, missing = append(patches, value), append(result, value), true
			continue
		}
		current := fieldsOf(live[at])
		patch := d.object(itemPath, wanted, current, r.schema)
		if patch == nil {
			continue
		}
		result[at] = overlay(current, patch)
		if r.exclusive {
			patch["$retainKeys"] = keysOf(wanted)
		}
		patch[r.mergeKey] = id
		patches = append(patches, patch)
	}
	switch {
	case len(patches) == 0:
		return nil, false
	case !d.strategic:
		return result, true
	case missing && !r.exclusive:
		return orderedList{patches, want, r.mergeKey}, true
	default:
		return patches, true
	}
}

// orderedList is a patch of a list with new items, whose place among the others matters (init containers).
type orderedList struct {
	patches, want []any
	mergeKey      string
}

// order returns the value of the directive that says in which order the items stand.
func (o orderedList) order() []any {
	order := make([]any, len(o.want))
	for i, item := range o.want {
		order[i] = map[string]any{o.mergeKey: fieldsOf(item)[o.mergeKey]}
	}
	return order
}

// fieldsOf returns the fields of an item that is an object.
func fieldsOf(item any) map[string]any {
	fields, _ := item.(map[string]any)
	return fields
}

// distinct reports whether all items are objects with a scalar of their own in field key.
func distinct(items []any, key string) bool {
	seen := map[any]bool{}
	for _, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return false
		}
		switch id := m[key].(type) {
		case string, int64:
			if seen[id] {
				return false
			}
			seen[id] = true
		default:
			return false
		}
	}
	return true
}

func allIn(want, live []any) bool {
	for _, item := range want {
		if !slices.ContainsFunc(live, func(l any) bool { return contains(item, l) }) {
			return false
		}
	}
	return true
}

// overlay returns live with the fields of a JSON merge patch laid over it. Neither is changed.
func overlay(live, patch map[string]any) map[string]any {
	out := maps.Clone(live)
	for key, value := range patch {
		sub, ok := value.(map[string]any)
		current, also := out[key].(map[string]any)
		if ok && also {
			out[key] = overlay(current, sub)
		} else {
			out[key] = value
		}
	}
	return out
}
