package watches

import (
	"errors"
	"slices"
	"sort"
	"strings"
)

// span is a range of byte offsets.
type span struct{ start, end int }

// piece is a part of an expanded text, and where it comes from.
type piece struct {
	start  int  // offset in the expanded text
	origin int  // offset in the original
	copied bool // the piece is the original's own text; else it took the place of a variable at origin
}

// expansion is a text after its environment variables were put in.
type expansion struct {
	text   string
	pieces []piece
}

// origin returns the offset in the original of an offset in the expanded text.
func (e expansion) origin(offset int) int {
	i := sort.Search(len(e.pieces), func(i int) bool { return e.pieces[i].start > offset }) - 1
	if i < 0 {
		return 0
	}
	if p := e.pieces[i]; !p.copied {
		return p.origin
	}
	return e.pieces[i].origin + offset - e.pieces[i].start
}

// maxExpanded bounds an expanded text in bytes: a short file can name a long variable very often.
const maxExpanded = 4 * maxFile

var errExpanded = errors.New("environment variables make the file too large")

// expand puts environment variables into text, except within the spans of skip, which are sorted.
//
// $NAME and ${NAME} become the variable's value as it stands, so that a value can hold YAML of its own. A variable
// that is not set becomes ${NAME}: this is what the Ansible tool did, and the next reader may know the name.
func expand(text string, skip []span, lookup func(string) (string, bool)) (expansion, error) {
	var e expander
	at := 0
	for _, s := range slices.Concat(skip, []span{{len(text), len(text)}}) {
		e.section(text[at:s.start], at, lookup)
		e.copy(text[s.start:s.end], s.start)
		at = s.end
		if e.out.Len() > maxExpanded {
			return expansion{}, errExpanded
		}
	}
	return expansion{e.out.String(), e.pieces}, nil
}

// expander writes the expanded text.
type expander struct {
	out    strings.Builder
	pieces []piece
}

func (e *expander) copy(text string, origin int) {
	if text != "" {
		e.pieces = append(e.pieces, piece{e.out.Len(), origin, true})
		e.out.WriteString(text)
	}
}

func (e *expander) put(text string, origin int) {
	if text != "" {
		e.pieces = append(e.pieces, piece{e.out.Len(), origin, false})
		e.out.WriteString(text)
	}
}

// section expands text, which begins at offset base of the original.
func (e *expander) section(text string, base int, lookup func(string) (string, bool)) {
	copied, lastBrace := 0, strings.LastIndexByte(text, '}')
	for i := 0; i < len(text) && e.out.Len() <= maxExpanded; {
		if text[i] != '$' {
			i++
			continue
		}
		name, width := variable(text[i+1:], i < lastBrace)
		if width == 0 {
			i++
			continue
		}
		e.copy(text[copied:i], base+copied)
		reference := text[i : i+1+width]
		i += 1 + width
		copied = i
		if name == "" {
			continue // "${}" and "${" without an end vanish
		}
		value, ok := lookup(name)
		if !ok {
			value = "${" + name + "}"
		}
		if value == reference {
			e.copy(value, base+i-len(reference))
			continue
		}
		e.put(value, base+i-len(reference))
	}
	if e.out.Len() <= maxExpanded {
		e.copy(text[copied:], base+copied)
	}
}

// variable reads the name of a variable that follows a dollar sign, and how many bytes the reference takes after it.
// The rules are those of os.Expand: a width without a name is bad syntax that vanishes from the text. closes says
// that a closing brace follows somewhere; without it no search is made, which would be quadratic over the text.
func variable(s string, closes bool) (name string, width int) {
	if s == "" {
		return "", 0
	}
	if s[0] == '{' && !closes {
		return "", 1
	}
	if s[0] == '{' {
		end := strings.IndexByte(s, '}')
		return s[1:end], end + 1
	}
	if isSpecial(s[0]) {
		return s[:1], 1
	}
	end := 0
	for end < len(s) && isNameByte(s[end]) {
		end++
	}
	return s[:end], end
}

// isSpecial tells the one-character variables of a shell.
func isSpecial(c byte) bool { return strings.IndexByte("*#$@!?-0123456789", c) >= 0 }

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
