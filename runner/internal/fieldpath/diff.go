package fieldpath

import "slices"

// maxDepth bounds how deep a comparison tells values apart; below, they are compared as a whole.
const maxDepth = 64

// Diff returns the places under a path where two values differ, as deep as they can be told apart: a key that came or went,
// an item of a list or, where lists have different lengths, the list.
func Diff(under Path, old, now any) Set {
	d := &differ{path: append(make(Path, 0, maxDepth), under...)}
	d.compare(old, now)
	return d.found
}

// differ walks two values. It makes no text before it finds a difference, since most of a large resource has none.
type differ struct {
	path  Path
	found Set
}

func (d *differ) compare(old, now any) {
	if len(d.path) < maxDepth {
		switch before := old.(type) {
		case map[string]any:
			if after, ok := now.(map[string]any); ok {
				d.mappings(before, after)
				return
			}
		case []any:
			if after, ok := now.([]any); ok && len(before) == len(after) {
				d.lists(before, after)
				return
			}
		}
	}
	if !Equal(old, now) {
		d.found.Add(d.name())
	}
}

func (d *differ) mappings(before, after map[string]any) {
	for key, value := range before {
		d.path = append(d.path, Step{Key: key})
		if other, there := after[key]; there {
			d.compare(value, other)
		} else {
			d.found.Add(d.name())
		}
		d.path = d.path[:len(d.path)-1]
	}
	for key := range after {
		if _, there := before[key]; !there {
			d.path = append(d.path, Step{Key: key})
			d.found.Add(d.name())
			d.path = d.path[:len(d.path)-1]
		}
	}
}

func (d *differ) lists(before, after []any) {
	for i := range before {
		d.path = append(d.path, Step{Kind: Index, Index: i})
		d.compare(before[i], after[i])
		d.path = d.path[:len(d.path)-1]
	}
}

// name returns the path as text. One that is too long gives way to the nearest place around it that is not.
func (d *differ) name() string {
	for path := d.path; len(path) > 0; path = path[:len(path)-1] {
		if text := path.String(); len(text) <= MaxLength {
			return text
		}
	}
	return more // not reached by keys that the API server admits at the root
}

// Equal reports whether two values of decoded JSON are the same.
func Equal(old, now any) bool {
	switch before := old.(type) {
	case map[string]any:
		after, ok := now.(map[string]any)
		if !ok || len(before) != len(after) {
			return false
		}
		for key, value := range before {
			if other, there := after[key]; !there || !Equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		after, ok := now.([]any)
		return ok && slices.EqualFunc(before, after, Equal)
	}
	return old == now // text, a number, a boolean or nil
}
