package status

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessage is the size of a message in bytes.
const maxMessage = 1024

// ellipsis ends a message that was cut.
const ellipsis = "…"

// escapes are the sequences by which programs colour their output.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")

// Message makes one clean text of at most 1 KiB: valid UTF-8, no control characters but newline and tab, no
// space at its ends. It redacts before it cuts, so that no half of a secret is left.
func Message(text string, redact func(string) string) string {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	return cut(redact(clean(redact(text))), maxMessage)
}

func clean(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	text = escapes.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}

// cut shortens text to size bytes at most, at the border of a character.
func cut(text string, size int) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= size {
		return text
	}
	end := size - len(ellipsis)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.TrimSpace(text[:end]) + ellipsis
}

// reasonForm is what the API server accepts as a reason, without the signs that nobody uses.
var reasonForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,127}$`)

// reasonOr returns reason if it is fit for a condition, else the fallback. Authors of playbooks choose reasons, too.
func reasonOr(reason, fallback string) string {
	if reasonForm.MatchString(reason) {
		return reason
	}
	return fallback
}
