package drift

import (
	"maps"
	"slices"
)

// differ walks through a wanted and a live object and builds the patch.
type differ struct {
	strategic bool     // the patch is a strategic merge patch, not a JSON merge patch
	paths     []string // of fields that differ
}

// object returns a patch that brings the fields of want into live, or nil if they are there.
func (d *differ) object(path string, want, live map[string]any, s schema) map[string]any {
	patch := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, present := live[key]
		if change, differs := d.field(join(path, key), key, want[key], value, present, s); differs {
			patch[key] = change
		}
	}
	if len(patch) == 0 {
		return nil
	}
	return patch
}

func (d *differ) field(path, key string, want, live any, present bool, s schema) (any, bool) {
	switch want := want.(type) {
	case nil:
		return nil, false // a null in a manifest asks for nothing
	case map[string]any:
		return d.mapField(path, want, live, s.object(key), s)
	case []any:
		return d.listField(path, want, live, s.list(key), s)
	default:
		if equal(want, live) || (!present && isZero(want) && s.known()) {
			return nil, false
		}
		return d.differs(path, want)
	}
}

func (d *differ) mapField(path string, want map[string]any, live any, r rule, parent schema) (any, bool) {
	current, ok := live.(map[string]any)
	if !ok {
		if live == nil && len(want) == 0 && !parent.known() {
			return nil, false
		}
		return d.differs(path, withoutNulls(want))
	}
	patch := d.object(path, want, current, r.schema)
	if patch == nil {
		return nil, false
	}
	if d.strategic && r.exclusive {
		patch["$retainKeys"] = keysOf(want)
	}
	return patch, true
}

// differs notes the field and returns its wanted value.
func (d *differ) differs(path string, want any) (any, bool) {
	d.paths = append(d.paths, path)
	return want, true
}

// contains reports whether live holds all of want; no patch is made.
func contains(want, live any) bool {
	_, differs := (&differ{}).field("", "", want, live, true, schema{})
	return !differs
}

func equal(a, b any) bool {
	if a == b {
		return true
	}
	x, ok := number(a)
	y, also := number(b)
	return ok && also && x == y
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func keysOf(m map[string]any) []any {
	keys := []any{}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if m[key] != nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// withoutNulls returns v without the fields of maps that are null, since a null in a patch deletes.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if value != nil {
				out[key] = withoutNulls(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutNulls(v[i])
		}
		return out
	default:
		return v
	}
}
