package watches

import (
	"cmp"
	"slices"
	"strings"
)

// Problem is one finding in a watches file.
type Problem struct {
	Position
	// Key is the path of the key that the problem is about, like finalizer.name; empty when there is none.
	Key string
	// Message says what is wrong, in one line.
	Message string
	// Hint says what to do about it; may be empty.
	Hint string
	// Advice marks a warning that recommends something and points at nothing broken. It stays a warning in strict mode.
	Advice bool
}

// String returns "file:line:column: message; hint" in one line.
func (p Problem) String() string {
	s := p.Message
	if place := p.Position.String(); place != "" {
		s = place + ": " + s
	}
	if p.Hint != "" {
		s += "; " + p.Hint
	}
	return oneLine(s)
}

// Problems are the errors of one file, sorted by position. It is the error of [Load] and [Decode].
type Problems []Problem //nolint:errname // a list of problems, which is an error when it is not empty

// Error returns one line per problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// maxProblems bounds what is kept of either sort, so that a file of rubbish does not give a report of its own size.
const maxProblems = 200

// problemList collects problems up to a bound.
type problemList struct {
	list    []Problem
	dropped int
}

// count returns how many problems there were, also of those that were not kept.
func (l *problemList) count() int { return len(l.list) + l.dropped }

func (l *problemList) full() bool { return len(l.list) >= maxProblems }

func (l *problemList) add(p Problem) {
	if l.full() {
		l.dropped++
		return
	}
	l.list = append(l.list, p)
}

// sorted returns the problems in the order of the file, each once.
func (l *problemList) sorted() []Problem {
	slices.SortStableFunc(l.list, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(l.list)
}

// oneLine keeps text that came from a file from breaking a report into several lines or steering a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029:
			return -1
		}
		return r
	}, s)
}
