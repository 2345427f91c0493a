package watches

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// overrideSpans finds where overrideValues stand in a raw text, sorted. The environment is not put in there before YAML
// is read: override values have a rule of their own, which also must see whether a value was quoted.
//
// A text that becomes YAML only when the environment is put in has no spans; then the general rule comes first and
// that of override values after it.
func overrideSpans(text string) []span {
	if !strings.Contains(strings.ToLower(text), strings.ToLower(overrideValuesKey)) || !strings.Contains(text, "$") {
		return nil
	}
	documents, err := parseDocuments(text)
	if err != nil {
		return nil
	}
	finder := spanFinder{lines: newLineTable(text, yamlBreak)}
	for _, document := range documents {
		finder.walk(document, false)
	}
	return finder.spans(len(text))
}

// spanFinder lists the offsets of all nodes of a text, and which of them belong to override values.
type spanFinder struct {
	lines *lineTable
	nodes []foundNode
}

type foundNode struct {
	offset   int
	override bool
}

func (f *spanFinder) walk(n *yaml.Node, override bool) {
	f.nodes = append(f.nodes, foundNode{f.lines.offset(n.Line, n.Column), override})
	for i, child := range n.Content {
		if n.Kind != yaml.MappingNode {
			f.walk(child, override)
			continue
		}
		key := n.Content[i-i%2]
		switch {
		case i%2 == 0 || key.Kind != yaml.ScalarNode:
			f.walk(child, override)
		case strings.EqualFold(key.Value, overrideValuesKey):
			f.walk(child, true)
		case !strings.EqualFold(key.Value, varsKey):
			f.walk(child, override)
		}
	}
}

// spans returns the text from each override node to the node that follows it.
func (f *spanFinder) spans(end int) []span {
	slices.SortStableFunc(f.nodes, func(a, b foundNode) int { return a.offset - b.offset })
	var found []span
	for i, node := range f.nodes {
		if !node.override {
			continue
		}
		next := end
		if i+1 < len(f.nodes) {
			next = f.nodes[i+1].offset
		}
		if last := len(found) - 1; last >= 0 && found[last].end == node.offset {
			found[last].end = next
		} else if next > node.offset {
			found = append(found, span{node.offset, next})
		}
	}
	return found
}
