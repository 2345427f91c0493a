package ansible

import "strconv"

// quoted is what a text says once its escapes are read.
type quoted struct {
	text   []byte
	at     []int // where each byte of text begins in what it was read from
	end    int   // of what it was read from, the closing quote included
	closed bool  // there is a closing quote
}

// origin returns where the byte at i of the text comes from.
func (q quoted) origin(i int) int {
	if i < len(q.at) {
		return q.at[i]
	}
	return q.end
}

// plainText is a text without escapes.
func plainText(text string) quoted {
	q := quoted{text: []byte(text), at: make([]int, len(text)), end: len(text)}
	for i := range q.at {
		q.at[i] = i
	}
	return q
}

// decodeQuoted reads a string or bytes as Python prints them, with the quote before position open and a prefix like b
// before that. It reports false if there is no quote, or no second one.
func decodeQuoted(text string, open int) (quoted, bool) {
	q := decodeEscapes(text[open:], text[open-1])
	q.end += open
	for i := range q.at {
		q.at[i] += open
	}
	return q, q.closed
}

// decodeEscapes reads text with escapes up to a quote, or to its end if quote is 0. What is no escape stays as it is, and
// so does \uXXXX: Python prints it for characters only, and JSON, which comes next, reads it.
func decodeEscapes(text string, quote byte) quoted {
	q := quoted{end: len(text)}
	for i := 0; i < len(text); {
		if quote != 0 && text[i] == quote {
			q.end, q.closed = i+1, true
			break
		}
		said, length := decodeEscape(text[i:])
		for _, c := range []byte(said) {
			q.text, q.at = append(q.text, c), append(q.at, i)
		}
		i += length
	}
	return q
}

var simpleEscapes = map[byte]string{'\\': `\`, '\'': `'`, '"': `"`, 'n': "\n", 'r': "\r", 't': "\t"}

// decodeEscape reads the byte or escape that text begins with, and says how long it is.
func decodeEscape(text string) (said string, length int) {
	if text[0] != '\\' || len(text) == 1 {
		return text[:1], 1
	}
	if simple, ok := simpleEscapes[text[1]]; ok {
		return simple, 2
	}
	const hexLength = len(`\xNN`)
	if text[1] == 'x' && len(text) >= hexLength {
		if n, err := strconv.ParseUint(text[2:hexLength], 16, 8); err == nil {
			return string([]byte{byte(n)}), hexLength
		}
	}
	return text[:1], 1
}
