package fieldpath

import (
	"slices"
	"strings"
)

// MaxPaths bounds how many paths a set keeps.
const MaxPaths = 64

// more stands for the paths that a set did not keep.
const more = "..."

// Set is a sorted set of paths in text. Of too many it keeps the first [MaxPaths] in the order of the alphabet. The zero value
// is empty. It is not safe for concurrent use.
type Set struct { //nolint:recvcheck // few methods change it, and they are called while it is made
	paths []string
	more  bool // there were others
}

// Add puts a path into the set.
func (s *Set) Add(path string) {
	at, there := slices.BinarySearch(s.paths, path)
	switch {
	case there:
		return
	case path == more:
		s.more = true
		return
	case len(s.paths) == MaxPaths && at == MaxPaths:
		s.more = true
		return
	case len(s.paths) == MaxPaths:
		s.more = true
		s.paths = s.paths[:MaxPaths-1]
	}
	s.paths = slices.Insert(s.paths, at, path)
}

// Merge puts all paths of another set into this one.
func (s *Set) Merge(other Set) {
	for _, path := range other.paths {
		s.Add(path)
	}
	s.more = s.more || other.more
}

// Empty reports whether nothing was added.
func (s Set) Empty() bool { return len(s.paths) == 0 && !s.more }

// List returns the paths in order, followed by "..." if there were more.
func (s Set) List() []string {
	list := slices.Clone(s.paths)
	if s.more {
		list = append(list, more)
	}
	return list
}

// Sentence says in words that these places changed, like "spec.image and spec.size changed"; "" for an empty set.
func (s Set) Sentence() string {
	const most = 3
	switch n := len(s.paths); {
	case s.Empty():
		return ""
	case s.more:
		return strings.Join(s.paths[:min(most, n)], ", ") + " and others changed"
	case n == 1:
		return s.paths[0] + " changed"
	case n <= most:
		return strings.Join(s.paths[:n-1], ", ") + " and " + s.paths[n-1] + " changed"
	}
	return strings.Join(s.paths[:most], ", ") + " and others changed"
}
