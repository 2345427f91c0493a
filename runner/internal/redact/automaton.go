package redact

import (
	"maps"
	"slices"
)

// automaton finds all of many patterns in one pass over a text, in time that does not depend on the patterns: neither a
// long secret nor a text made of its beginnings slows it down. It is the automaton of Aho and Corasick.
//
// Nodes are numbered breadth first, so the children of one stand side by side, in the order of their bytes.
type automaton struct {
	label   []byte   // byte that leads to the node
	child   []int32  // first child; the last one's end is the first child of the next node
	fallen  []int32  // node of the longest proper suffix
	longest []uint16 // size of the longest pattern that ends at the node; zero if none does
	start   [256]int32
}

const root = 0

// spread is a node that has yet to be numbered: the sorted patterns from low to high share its path.
type spread struct {
	low, high, depth int32
	parent           int32
	label            byte
}

// newAutomaton makes the automaton of patterns, none of which is empty or longer than 65535 bytes.
func newAutomaton(patterns map[string]struct{}) *automaton {
	sorted := slices.Sorted(maps.Keys(patterns))
	a := &automaton{}
	a.number(sorted)
	for c := range a.start {
		a.start[c], _ = a.step(root, byte(c))
	}
	return a
}

// number gives each prefix of a pattern its node.
func (a *automaton) number(sorted []string) {
	queue := []spread{{low: 0, high: int32(len(sorted)), parent: -1}}
	for node := int32(0); int(node) < len(queue); node++ {
		s := queue[node]
		a.label = append(a.label, s.label)
		a.child = append(a.child, int32(len(queue)))
		fallen, longest := a.suffix(s), uint16(0)
		if fallen >= 0 && node != root {
			longest = a.longest[fallen]
		}
		low := s.low
		if low < s.high && int32(len(sorted[low])) == s.depth { // the shortest sorts first
			longest = uint16(s.depth)
			low++
		}
		a.fallen, a.longest = append(a.fallen, max(fallen, root)), append(a.longest, longest)
		queue = branch(queue, sorted, spread{low: low, high: s.high, depth: s.depth, parent: node})
	}
	a.child = append(a.child, int32(len(queue)))
}

// branch adds the children of a node to the queue.
func branch(queue []spread, sorted []string, s spread) []spread {
	for low := s.low; low < s.high; {
		c := sorted[low][s.depth]
		high := low + 1
		for high < s.high && sorted[high][s.depth] == c {
			high++
		}
		queue = append(queue, spread{low: low, high: high, depth: s.depth + 1, parent: s.parent, label: c})
		low = high
	}
	return queue
}

// suffix returns the node to fall back to from one that has yet to be added; -1 for the root.
func (a *automaton) suffix(s spread) int32 {
	if s.parent <= root {
		return s.parent
	}
	for node := a.fallen[s.parent]; ; node = a.fallen[node] {
		if next, ok := a.step(node, s.label); ok || node == root {
			return next
		}
	}
}

// step returns the child of node for c, or the root and false if there is none.
func (a *automaton) step(node int32, c byte) (int32, bool) {
	low, high := a.child[node], a.child[node+1]
	if high-low > 8 {
		i, ok := slices.BinarySearch(a.label[low:high], c)
		if !ok {
			return root, false
		}
		return low + int32(i), true
	}
	for i := low; i < high; i++ {
		if a.label[i] == c {
			return i, true
		}
	}
	return root, false
}

// span is a part of a text.
type span struct{ from, to int }

// find returns the parts of s that belong to a pattern, in order. Parts that touch are one.
func (a *automaton) find(s string) []span {
	var found []span
	node := int32(root)
	for i := range len(s) {
		node = a.next(node, s[i])
		if n := int(a.longest[node]); n > 0 {
			found = join(found, span{i + 1 - n, i + 1})
		}
	}
	return found
}

func (a *automaton) next(node int32, c byte) int32 {
	for node != root {
		if next, ok := a.step(node, c); ok {
			return next
		}
		node = a.fallen[node]
	}
	return a.start[c]
}

// join adds a part that ends behind all others.
func join(found []span, s span) []span {
	for len(found) > 0 && found[len(found)-1].to >= s.from {
		s.from = min(s.from, found[len(found)-1].from)
		found = found[:len(found)-1]
	}
	return append(found, s)
}
