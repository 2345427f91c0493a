package ansible

import (
	"encoding/json"
	"regexp"
	"strings"
)

// maxEscapes bounds how often an answer of the API server was put into a string of another: kubernetes.core quotes
// what the client has quoted already.
const maxEscapes = 4

// apiStatus matches an answer of the API server to a request that it did not grant.
var apiStatus = regexp.MustCompile(`(?s)(?:b')?\{[^{}]*"kind":\s*"Status".*?"message":\s*("(?:[^"\\]|\\.)*").*\}(?:\\n|\n)?'?`)

// readable replaces an answer of the API server within a text, which is JSON in one or more layers of quotes, by the
// sentence that the answer holds.
func readable(text string) string {
	if !strings.Contains(text, "Status") {
		return text
	}
	unquoted := text
	for range maxEscapes {
		at := apiStatus.FindStringSubmatchIndex(unquoted)
		if at != nil {
			var message string
			if json.Unmarshal([]byte(unquoted[at[2]:at[3]]), &message) != nil {
				return text
			}
			return unquoted[:at[0]] + message + unquoted[at[1]:]
		}
		unquoted = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(unquoted)
	}
	return text
}
