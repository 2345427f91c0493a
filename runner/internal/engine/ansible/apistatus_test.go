package ansible

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// printedBytes returns text as Python prints bytes.
func printedBytes(text string) string {
	quote := byte('\'')
	if strings.ContainsRune(text, '\'') && !strings.ContainsRune(text, '"') {
		quote = '"'
	}
	var b strings.Builder
	b.WriteString("b" + string(quote))
	for _, c := range []byte(text) {
		switch {
		case c == quote || c == '\\':
			b.WriteString(`\` + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte(quote)
	return b.String()
}

// answerWith is the body of an answer of the API server.
func answerWith(t *testing.T, message string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "message": message,
		"reason": "Forbidden", "details": map[string]any{"name": "a", "causes": []any{map[string]any{"message": "{}"}}}, "code": 403,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

func TestReadableMessages(t *testing.T) {
	tests := map[string]string{
		"quota":            `configmaps "one" is forbidden: exceeded quota: few, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1`,
		"admission policy": `ConfigMap "thing" is invalid: : ValidatingAdmissionPolicy 'no-prod' with binding 'no-prod-here' denied request: say "please"`,
		"over 1 MiB":       `ConfigMap "big" is invalid: []: Too long: may not be more than 1048576 bytes`,
		"etcd":             `etcdserver: request is too large`,
		"RBAC":             `configmaps is forbidden: User "system:serviceaccount:a:b" cannot create resource "configmaps" in API group "" in the namespace "c"`,
		"apostrophe":       `it's not "allowed"`,
		"unicode":          `größer als “erlaubt” 👍`,
		"backslashes":      `path C:\dir\new \\host "\'x\'" \x41 \u0041`,
		"lines":            "one\n\ttwo\r\n",
		"braces":           `Invalid value: {"kind":"Status","message":"inner"} and b'{"a":1}'`,
	}
	for name, message := range tests {
		t.Run(name, func(t *testing.T) {
			body := answerWith(t, message)
			inJSON, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			for how, text := range map[string]string{
				"as Python prints bytes":   printedBytes(body),
				"as it is":                 strings.TrimSpace(body),
				"as a JSON string":         string(inJSON),
				"as bytes within a string": strings.Trim(mustQuote(t, printedBytes(body)), `"`),
			} {
				got := readable("Failed to create object: " + text + ", sorry")
				if want := "Failed to create object: " + message + ", sorry"; got != want {
					t.Errorf("%s: %s\n got %q\nwant %q", how, text, got, want)
				}
			}
		})
	}
}

func mustQuote(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func TestReadable(t *testing.T) {
	tests := map[string]struct{ reason, text, want string }{
		"Plain": {"most texts hold no answer", "found it", "found it"},
		"Word":  {"the word alone is no answer", "Status is bad", "Status is bad"},
		"Once": {
			"as the Python client prints a body",
			`Failed to create object: b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps is forbidden","reason":"Forbidden","code":403}\n'`,
			"Failed to create object: configmaps is forbidden",
		},
		"Quotes": {
			"a name in quotes, which the message was cut at",
			`Failed to create object: b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"ConfigMap \\"x\\" can\'t be","code":422}\n'`,
			`Failed to create object: ConfigMap "x" can't be`,
		},
		"Twice": {
			"an answer within a string",
			`Failed: {\"kind\":\"Status\",\"message\":\"pods \\\"a\\\" not found\",\"code\":404}`,
			`Failed: pods "a" not found`,
		},
		"Two": {
			"more than one answer",
			`first {"kind":"Status","message":"a"} then b'{"kind":"Status","message":"b"}'`,
			"first a then b",
		},
		"Silent": {"an answer without a sentence", `{"kind":"Status","reason":"Unauthorized"}`, "Unauthorized"},
		"Empty":  {"an answer without anything stays as it is", `{"kind":"Status"}`, `{"kind":"Status"}`},
		"Other":  {"another object stays as it is", `b'{"kind":"Pod","message":"Status"}'`, `b'{"kind":"Pod","message":"Status"}'`},
		"Broken": {"half an answer stays as it is", `{"kind":"Status","message":"x`, `{"kind":"Status","message":"x`},
		"Cut":    {"so does half a printed one", `b'{"kind":"Status","message":"x\'`, `b'{"kind":"Status","message":"x\'`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := readable(tt.text); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
			}
		})
	}
}

// FuzzReadable: what the API server says comes out as it was said, and no text does harm.
func FuzzReadable(f *testing.F) {
	f.Add(`pods "a" isn't`, `b'{"kind":"Status"`)
	f.Add("\\", `{\"kind\":\"Status\\x`)
	f.Add("é\n", `'{"kind":"Status","message":"\'`)
	f.Fuzz(func(t *testing.T, message, text string) {
		readable(text + "Status")
		if message == "" || !utf8.ValidString(message) {
			return
		}
		if got := readable("no: " + printedBytes(answerWith(t, message))); got != "no: "+message {
			t.Errorf("got %q, want %q", got, message)
		}
	})
}
