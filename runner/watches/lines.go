package watches

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// lineTable converts between byte offsets of a text and lines and columns, both from 1; columns count characters.
type lineTable struct {
	text   string
	starts []int // offset of each line's first byte
	// last is where offset ended last time: places are mostly asked for in order, and a line can be a whole file.
	last struct{ line, column, offset int }
}

// newLineTable indexes text. breakAt returns the width of a line break that begins at offset i, or 0.
func newLineTable(text string, breakAt func(text string, i int) int) *lineTable {
	starts := []int{0}
	for i := 0; i < len(text); {
		if width := breakAt(text, i); width > 0 {
			i += width
			starts = append(starts, i)
			continue
		}
		i++
	}
	return &lineTable{text: text, starts: starts}
}

// offset returns the offset of a place, or of the nearest one that exists.
func (t *lineTable) offset(line, column int) int {
	line = min(max(line, 1), len(t.starts))
	from, at, end := 1, t.starts[line-1], len(t.text)
	if t.last.line == line && t.last.column <= column {
		from, at = t.last.column, t.last.offset
	}
	if line < len(t.starts) {
		end = t.starts[line]
	}
	for ; from < column && at < end; from++ {
		_, width := utf8.DecodeRuneInString(t.text[at:end])
		at += width
	}
	t.last.line, t.last.column, t.last.offset = line, from, at
	return at
}

// place returns the line and column of an offset.
func (t *lineTable) place(offset int) (line, column int) {
	offset = min(max(offset, 0), len(t.text))
	line = sort.Search(len(t.starts), func(i int) bool { return t.starts[i] > offset })
	return line, utf8.RuneCountInString(t.text[t.starts[line-1]:offset]) + 1
}

// editorBreak is a line break as editors count them.
func editorBreak(text string, i int) int {
	switch {
	case text[i] == '\n':
		return 1
	case strings.HasPrefix(text[i:], "\r\n"):
		return 2
	case text[i] == '\r':
		return 1
	}
	return 0
}

// yamlBreak is a line break as YAML counts them: three characters more than editors do.
func yamlBreak(text string, i int) int {
	if strings.HasPrefix(text[i:], "\u0085") {
		return len("\u0085")
	}
	if strings.HasPrefix(text[i:], "\u2028") || strings.HasPrefix(text[i:], "\u2029") {
		return len("\u2028")
	}
	return editorBreak(text, i)
}
