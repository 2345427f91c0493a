package watches

import "gopkg.in/yaml.v3"

// follow returns the node that an alias stands for, or the node itself.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// null reports whether a node is the null value, also in its empty form.
func null(n *yaml.Node) bool {
	if n = follow(n); n.Kind != yaml.ScalarNode {
		return false
	}
	value, err := scalar(n)
	return err == nil && value == nil
}

// field is one key of a mapping and what it holds.
type field struct {
	key   *yaml.Node
	name  string
	value *yaml.Node
}

// fields lists the keys of a mapping in the order of the file. Keys that a merge (<<) brings come first and only where
// the mapping does not set them itself. Of two keys that same takes for one, the last counts, as ever, and it is
// told. path is the mapping's key in the file.
func (d *decoder) fields(n *yaml.Node, path string, same func(string) string) []field {
	return d.fieldsAt(follow(n), path, same, 0)
}

func (d *decoder) fieldsAt(n *yaml.Node, path string, same func(string) string, depth int) []field {
	var merged, own []field
	index := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !d.count(key, path) {
			break
		}
		if isMerge(key) {
			merged = append(merged, d.merged(value, path, same, depth)...)
			continue
		}
		name, ok := d.keyName(key, path)
		if !ok {
			continue
		}
		if first, twice := index[same(name)]; twice {
			d.warnf(key, join(path, name), "", "key %s stands here twice, first on %s; the last one counts",
				name, lineOf{d.source, own[first].key})
			own[first].value, own[first].key = value, key
			continue
		}
		index[same(name)] = len(own)
		own = append(own, field{key, name, value})
	}
	return append(withoutKeys(merged, index, same), own...)
}

// withoutKeys drops merged fields that are in taken or come a second time: the first merge counts.
func withoutKeys(merged []field, taken map[string]int, same func(string) string) []field {
	kept := merged[:0]
	seen := map[string]bool{}
	for _, f := range merged {
		if _, own := taken[same(f.name)]; !own && !seen[same(f.name)] {
			seen[same(f.name)] = true
			kept = append(kept, f)
		}
	}
	return kept
}

// merged lists the fields that the value of a merge key brings: a mapping's, or those of a list of mappings.
func (d *decoder) merged(n *yaml.Node, path string, same func(string) string, depth int) []field {
	n = follow(n)
	switch {
	case !d.count(n, path):
		return nil
	case depth > maxDepth:
		d.failf(n, path, "", "merges (<<) nest too deep")
		return nil
	case n.Kind == yaml.MappingNode:
		return d.fieldsAt(n, path, same, depth+1)
	case n.Kind == yaml.SequenceNode:
		var all []field
		for _, item := range n.Content {
			all = append(all, d.merged(item, path, same, depth+1)...)
		}
		return all
	}
	d.failf(n, path, "", "a merge (<<) needs a mapping or a list of mappings")
	return nil
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && !quoted(key)
}

// keyName returns a mapping's key as text: numbers and booleans are keys too.
func (d *decoder) keyName(key *yaml.Node, path string) (string, bool) {
	n := follow(key)
	if n.Kind != yaml.ScalarNode {
		d.failf(key, path, "", "a list or mapping cannot be a key")
		return "", false
	}
	value, err := scalar(n)
	if err != nil || value == nil {
		d.failf(key, path, "put the key in quotes", "%q cannot be a key", n.Value)
		return "", false
	}
	return text(value), true
}
