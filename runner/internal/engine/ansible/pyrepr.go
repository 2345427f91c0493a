package ansible

import (
	"strconv"
	"strings"
)

// unescaped is what a text says once its escapes are read.
type unescaped struct {
	text   string
	at     []int // where each byte of text begins in what it was read from; nil where that is the text itself
	end    int   // of what it was read from, the closing quote included
	closed bool  // there is a closing quote
}

// origin returns where the byte at i of the text comes from.
func (u unescaped) origin(i int) int {
	switch {
	case u.at == nil:
		return i
	case i < len(u.at):
		return u.at[i]
	}
	return u.end
}

// again reads the escapes of a text without quotes once more.
func (u unescaped) again() unescaped {
	inner := unescape(u.text, 0)
	for i, at := range inner.at {
		inner.at[i] = u.origin(at)
	}
	inner.end = u.end
	return inner
}

// unescape reads text with escapes, of Python or JSON, up to a quote, or to its end if quote is 0. What is no escape
// stays as it is, and so does \uXXXX: JSON, which comes next, reads it.
func unescape(text string, quote byte) unescaped {
	u := unescaped{end: len(text)}
	var said strings.Builder
	for i := 0; i < len(text); {
		if quote != 0 && text[i] == quote {
			u.end, u.closed = i+1, true
			break
		}
		part, length := readEscape(text[i:])
		said.WriteByte(part)
		u.at = append(u.at, i)
		i += length
	}
	u.text = said.String()
	return u
}

var simpleEscapes = map[byte]byte{'\\': '\\', '\'': '\'', '"': '"', 'n': '\n', 'r': '\r', 't': '\t'}

// readEscape reads the byte or escape that text begins with, and says how long it is.
func readEscape(text string) (said byte, length int) {
	if text[0] != '\\' || len(text) == 1 {
		return text[0], 1
	}
	if simple, ok := simpleEscapes[text[1]]; ok {
		return simple, 2
	}
	const hexLength = len(`\xNN`)
	if text[1] == 'x' && len(text) >= hexLength {
		if n, err := strconv.ParseUint(text[2:hexLength], 16, 8); err == nil {
			return byte(n), hexLength
		}
	}
	return text[0], 1
}
