package ansible

import (
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
	body := unescaped{text: text, end: len(text)}
	for range maxEscapes {
		if message, n := printed(body.text, open); n > 0 {
			return message, body.origin(n)
		}
		if message, n := status(body.text[open:]); n > 0 {
			return text[:open] + message, body.origin(open + n)
		}
		inner := body.again()
		if len(inner.text) == len(body.text) {
			break // nothing was escaped
		}
		body = inner
	}
	return "", 0
}

// printed reads an answer that is all that the quotes of Python, or JSON, before position open hold. It returns where the
// closing quote ends, zero if there is no such answer.
func printed(text string, open int) (message string, end int) {
	if open == 0 || text[open-1] == '\'' && strings.HasPrefix(text[open+1:], `\"`) { // Python does not escape the other quote
		return "", 0
	}
	body := unescape(text[open:], text[open-1])
	if !body.closed {
		return "", 0
	}
	message, n := status(body.text)
	if n == 0 || strings.TrimSpace(body.text[n:]) != "" {
		return "", 0
	}
	return message, open + body.end
}

// status reads a Status that text begins with, and how long it is; zero if it is none.
func status(text string) (message string, length int) {
	reader := json.NewDecoder(strings.NewReader(text))
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
