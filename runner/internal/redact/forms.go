package redact

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minValue is the size of the smallest secret, in bytes. Shorter ones are in every text.
	minValue = 5
	// minPart is the size of the smallest line, or part of a line, of a secret that has several.
	minPart = 8
	// maxNumber is how many digits a number may have that is taken for a port or a count.
	maxNumber = 5
	// maxWhole is up to which size a value of several lines is also known as one.
	maxWhole = 4 << 10
	// wrap is after how many characters common programs break lines of base64.
	wrap = 76
)

// common are values that Secrets hold beside what is secret in them. All are lower case.
var common = map[string]bool{
	"false": true, "admin": true, "administrator": true, "localhost": true, "default": true, "postgres": true,
	"postgresql": true, "mysql": true, "mariadb": true, "redis": true, "mongodb": true, "rabbitmq": true, "opaque": true,
	"managed": true, "unmanaged": true, "enabled": true, "disabled": true, "disable": true, "prefer": true,
	"require": true, "verify-ca": true, "verify-full": true, "password": true, "username": true, "secret": true,
	"token": true, "redacted": true, "null": true, "127.0.0.1": true, "0.0.0.0": true, "utf-8": true,
}

// telling reports whether a value can be told from other text.
func telling(value string) bool {
	if len(value) < minValue || strings.Contains(Mark, value) || common[strings.ToLower(value)] {
		return false
	}
	if len(value) <= maxNumber && strings.Trim(value, "0123456789") == "" {
		return false
	}
	return strings.TrimFunc(value, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("-=_.*#/{}[]():,", r) }) != ""
}

// formsOf returns the texts by which a secret is known.
func formsOf(secret []byte) []string {
	value := strings.TrimSpace(beginning(secret))
	if !telling(value) {
		return nil
	}
	var forms []string
	parts := partsOf(value)
	if len(parts) == 0 || len(value) <= maxWhole {
		parts = append(parts, value)
	}
	for _, part := range parts {
		forms = append(forms, spellings(part)...)
	}
	forms = append(forms, encodings(secret)...)
	if trimmed := []byte(value); len(trimmed) != len(secret) && len(secret) <= MaxValue {
		forms = append(forms, encodings(trimmed)...)
	}
	return forms
}

// beginning returns as much of a secret as counts, at the border of a character.
func beginning(secret []byte) string {
	end := min(len(secret), MaxValue)
	for end < len(secret) && end > MaxValue-utf8.UTFMax && !utf8.RuneStart(secret[end]) {
		end--
	}
	return string(secret[:end])
}

// partsOf returns what of a value of several lines is worth knowing on its own: of a JSON document its texts, of
// other text each line, and of a line like "key: value" or "key=value" what follows the key, for the key is no secret.
func partsOf(value string) []string {
	if value[0] == '{' || value[0] == '[' {
		var document any
		if json.Unmarshal([]byte(value), &document) == nil {
			return leaves(document, nil)
		}
	}
	if !strings.ContainsAny(value, "\n\r") {
		return nil
	}
	var parts []string
	for line := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "-----") { // the frame of a certificate or key
			continue
		}
		line = withoutKey(line)
		if len(line) >= minPart && telling(line) {
			parts = append(parts, line)
		}
	}
	return parts
}

// withoutKey returns what follows the key on a line of settings.
func withoutKey(line string) string {
	end := strings.IndexFunc(line, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-. \"'", r)
	})
	if end <= 0 || end > 64 {
		return line
	}
	rest := line[end+1:]
	if line[end] != '=' && (line[end] != ':' || (rest != "" && rest[0] != ' ')) || strings.Trim(rest, "=") == "" {
		return line
	}
	return strings.Trim(strings.TrimSpace(rest), `"'`)
}

// leaves returns the texts of a JSON document that can be told from others.
func leaves(document any, found []string) []string {
	switch d := document.(type) {
	case string:
		if len(d) >= minPart && telling(d) {
			found = append(found, d)
		}
	case []any:
		for _, item := range d {
			found = leaves(item, found)
		}
	case map[string]any:
		for _, item := range d {
			found = leaves(item, found)
		}
	}
	return found
}

// spellings returns a text as it is and as programs escape it: for JSON (once, and once more for JSON within JSON;
// with and without what is not ASCII), for Python, for a URL and for HTML.
func spellings(text string) []string {
	spelled := []string{text}
	if !utf8.ValidString(text) { // no text: it travels as base64
		return spelled
	}
	escaped := escapeJSON(text, false)
	ascii := escapeASCII(escaped)
	spelled = append(spelled, escaped, ascii)
	if len(text) > maxWhole { // all of them would fill the memory for one that is hardly ever put into a URL
		return spelled
	}
	spelled = append(spelled, escapeJSON(text, true), escapeJSON(escaped, false), escapeJSON(ascii, false),
		strings.ReplaceAll(escaped, `\"`, `"`), url.QueryEscape(text), url.PathEscape(text))
	if strings.ContainsAny(text, `<>&'"`) {
		spelled = append(spelled, html.EscapeString(text), strings.ReplaceAll(text, `'`, `\'`), strings.ReplaceAll(text, `'`, `''`))
	}
	return spelled
}

// escapeJSON returns a text as a JSON string has it between its quotes.
func escapeJSON(text string, forHTML bool) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(forHTML)
	if err := encoder.Encode(text); err != nil {
		return text // a string always has a form
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// escapeASCII returns JSON text with nothing but ASCII in it, as Python writes it.
func escapeASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		appendASCII(&b, r)
	}
	return b.String()
}

// encodings returns the base64 of a secret: whole, and in the pieces of which it consists where lines are wrapped.
// Padding is left out, so that text without it is found too.
func encodings(secret []byte) []string {
	secret = secret[:min(len(secret), MaxValue/3*3)]
	var encoded []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		text := encoding.EncodeToString(secret)
		for len(text) > wrap {
			encoded = append(encoded, text[:wrap])
			text = text[wrap:]
		}
		if len(text) >= minValue {
			encoded = append(encoded, text)
		}
	}
	return encoded
}
