package input

import (
	"iter"
	"maps"
	"slices"
)

// walk goes through the entries of a mapping.
type walk func(map[string]any) iter.Seq2[string, any]

// inOrder goes through a mapping in the order of its keys.
func inOrder(m map[string]any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// firstFault does work in any order, which is faster, and only if that finds a fault does it again in order, so that of
// several faults the same one is told each time.
func firstFault[T any](work func(walk) (T, *Refusal)) (T, *Refusal) {
	result, refusal := work(maps.All[map[string]any])
	if refusal != nil {
		return work(inOrder)
	}
	return result, nil
}

// renamer turns the keys of mappings to snake_case at every depth.
type renamer struct {
	walk walk
	// names remembers what keys become: they come again and again in lists.
	names map[string]string
}

// value returns a value with its keys renamed. What has no keys is shared with it.
func (r renamer) value(v any) (any, *Refusal) {
	switch v := v.(type) {
	case map[string]any:
		if isMarked(v) {
			return v, nil
		}
		return r.mapping(v)
	case []any:
		renamed := make([]any, len(v))
		for i, item := range v {
			value, refusal := r.value(item)
			if refusal != nil {
				return nil, refusal.under(index(i))
			}
			renamed[i] = value
		}
		return renamed, nil
	}
	return v, nil
}

func (r renamer) mapping(m map[string]any) (map[string]any, *Refusal) {
	renamed := make(map[string]any, len(m))
	for key, item := range r.walk(m) {
		name := r.name(key)
		if name == "" {
			return nil, emptyKey(key)
		}
		if _, taken := renamed[name]; taken {
			return nil, r.clash(m, name)
		}
		value, refusal := r.value(item)
		if refusal != nil {
			return nil, refusal.under(shown(key))
		}
		renamed[name] = value
	}
	return renamed, nil
}

func (r renamer) name(key string) string {
	name, known := r.names[key]
	if !known {
		name = Snake(key)
		r.names[key] = name
	}
	return name
}

// clash names the first two keys of a mapping that become the same variable.
func (r renamer) clash(m map[string]any, name string) *Refusal {
	var keys []string
	for key := range inOrder(m) {
		if r.name(key) == name {
			keys = append(keys, shown(key))
		}
	}
	return refuse(ReasonVariableClash, "%s and %s both become %s; rename one", keys[0], keys[1], shown(name))
}

func emptyKey(key string) *Refusal {
	return refuse(ReasonEmptyKey, "the key is empty").under(shown(key))
}
