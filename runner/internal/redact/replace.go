package redact

import (
	"strings"
)

// replace returns s with the mark in the place of each part.
func replace(s string, parts []span) string {
	if len(parts) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, part := range parts {
		b.WriteString(s[at:part.from])
		b.WriteString(Mark)
		at = part.to
	}
	b.WriteString(s[at:])
	return b.String()
}
