package watches

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxFile bounds a watches file in bytes. A ConfigMap holds no more.
const maxFile = 1 << 20

// source is a watches file: the text that YAML is read from, and the way back to the places of the original.
type source struct {
	name      string
	expansion expansion
	expanded  *lineTable // by YAML's line breaks
	original  *lineTable // by an editor's line breaks
}

// newSource checks the raw bytes of a file and puts environment variables in.
func newSource(name string, data []byte, lookup func(string) (string, bool)) (source, *Problem) {
	start := Position{File: name, Line: 1, Column: 1}
	if len(data) > maxFile {
		return source{}, &Problem{Position: start, Message: "the file has more than 1 MiB, which is the limit"}
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	s := source{name: name, original: newLineTable(text, editorBreak)}
	if at := badCharacter(text); at >= 0 {
		return source{}, &Problem{
			Position: s.originalPosition(at),
			Message:  "the file holds a byte that is no printable UTF-8 text",
			Hint:     "save the file as UTF-8",
		}
	}
	expansion, err := expand(text, overrideSpans(text), lookup)
	if err != nil {
		return source{}, &Problem{Position: start, Message: err.Error()}
	}
	s.expansion = expansion
	if at := badCharacter(expansion.text); at >= 0 {
		return source{}, &Problem{
			Position: s.originalPosition(expansion.origin(at)),
			Message:  "an environment variable puts a byte here that is no printable UTF-8 text",
		}
	}
	s.expanded = newLineTable(expansion.text, yamlBreak)
	return s, nil
}

// position turns a place that the YAML reader gave into one of the original file.
func (s source) position(line, column int) Position {
	return s.originalPosition(s.expansion.origin(s.expanded.offset(line, column)))
}

func (s source) originalPosition(offset int) Position {
	line, column := s.original.place(offset)
	return Position{File: s.name, Line: line, Column: column}
}

// badCharacter returns the offset of the first character that YAML does not allow, or -1.
func badCharacter(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
		if !slices.ContainsFunc(allowedCharacters, func(s runes) bool { return s.first <= r && r <= s.last }) {
			return i
		}
	}
	return -1
}

type runes struct{ first, last rune }

// allowedCharacters are those of YAML, the most frequent first.
var allowedCharacters = []runes{
	{' ', '~'}, {'\t', '\n'}, {'\r', '\r'}, {0x85, 0x85}, {0xa0, 0xd7ff}, {0xe000, 0xfefe}, {0xff00, 0xfffd}, {0x10000, utf8.MaxRune},
}
