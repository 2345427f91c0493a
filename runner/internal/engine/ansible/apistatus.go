package ansible

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// Bounds of the search for answers of the API server in a text.
const (
	// maxEscapes bounds how often an answer was put into a string of another: kubernetes.core quotes what the client
	// has quoted already.
	maxEscapes = 4
	// maxAnswers bounds how many places of one text are looked at.
	maxAnswers = 8
)

// answerStart matches where an answer of the API server may begin: a mapping with a key of a Status, in quotes with any
// number of escapes, and what Python puts before it when it prints bytes or a string.
var answerStart = regexp.MustCompile(`(?:(?:\b[bu])?['"])?\{\s*\\*"(?:kind|apiVersion|metadata|status|message|reason|details|code)\\*"`)

// readable replaces answers of the API server within a text by the sentences that they hold. An answer is JSON, as it is,
// or in one or more layers of quotes: those of Python, which prints a body as b'...', and those of JSON.
func readable(text string) string {
	if !strings.Contains(text, "Status") {
		return text
	}
	var told strings.Builder
	for range maxAnswers {
		at := answerStart.FindStringIndex(text)
		if at == nil {
			break
		}
		message, length := answer(text[at[0]:])
		if length == 0 { // something else; the search goes on behind its first characters
			told.WriteString(text[:at[1]])
			text = text[at[1]:]
			continue
		}
		told.WriteString(text[:at[0]] + message)
		text = text[at[0]+length:]
	}
	return told.String() + text
}

// answer reads the answer of the API server that text begins with, and says how long it is; zero if it is none.
func answer(text string) (message string, length int) {
	open := strings.IndexByte(text, '{')
	if open > 0 {
		if message, length := printed(text, open); length > 0 {
			return message, length
		}
	}
	message, length = layered(plainText(text[open:]), maxEscapes) // a quote before it has nothing to do with it
	if length == 0 {
		return "", 0
	}
	return text[:open] + message, open + length
}

// printed reads an answer that is all that Python's quotes hold; it begins at open.
func printed(text string, open int) (message string, length int) {
	body, ok := decodeQuoted(text, open)
	if !ok {
		return "", 0
	}
	message, end := layered(body, maxEscapes)
	if end == 0 || strings.Trim(text[end:body.end-1], "\\rn \n") != "" {
		return "", 0
	}
	return message, body.end
}

// layered reads an answer that is in up to so many layers of quotes, and returns where it ends in what the body was read
// from.
func layered(body quoted, layers int) (message string, end int) {
	for range layers {
		if message, n := status(body.text); n > 0 {
			return message, body.origin(n)
		}
		inner := decodeEscapes(string(body.text), 0)
		if len(inner.text) == len(body.text) {
			break // nothing was escaped
		}
		for i, at := range inner.at {
			inner.at[i] = body.origin(at)
		}
		body = inner
	}
	return "", 0
}

// status reads a Status that text begins with, and how long it is with the blanks behind it.
func status(text []byte) (message string, length int) {
	reader := json.NewDecoder(bytes.NewReader(text))
	var said struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
		Reason  string `json:"reason"`
	}
	if reader.Decode(&said) != nil || said.Kind != "Status" {
		return "", 0
	}
	if said.Message == "" {
		said.Message = said.Reason
	}
	if said.Message == "" {
		return "", 0
	}
	return said.Message, int(reader.InputOffset())
}
