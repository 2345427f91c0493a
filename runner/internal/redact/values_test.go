package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func learned(secrets ...string) *Values {
	v := &Values{}
	for _, secret := range secrets {
		v.Learn([]byte(secret))
	}
	return v
}

func TestString(t *testing.T) {
	const key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n"
	for name, c := range map[string]struct {
		reason  string
		secrets []string
		text    string
		want    string
	}{
		"Nothing":        {"no secret, no change", nil, "password is hunter2", "password is hunter2"},
		"Value":          {"the value itself, more than once", []string{"hunter2"}, "hunter2 is not hunter2", Mark + " is not " + Mark},
		"Within":         {"a value inside a word: a URL with a password", []string{"hunter2"}, "pg://u:hunter2@db", "pg://u:" + Mark + "@db"},
		"LongestFirst":   {"no end of a longer secret is left when a shorter one begins alike", []string{"hunter2", "hunter2extra"}, "a hunter2extra b", "a " + Mark + " b"},
		"Overlap":        {"of two secrets that overlap nothing is left", []string{"abcdefg", "efghijk"}, "xabcdefghijkx", "x" + Mark + "x"},
		"Touching":       {"one mark for two in a row", []string{"abcdefg", "hijklmn"}, "abcdefghijklmn", Mark},
		"Backtrack":      {"a false start must not hide the real one", []string{"aaaab"}, "aaaaaaab", "aaa" + Mark},
		"Suffix":         {"a secret at the end of what began like another", []string{"abcdefgh", "cdefgx"}, "abcdefgx", "ab" + Mark},
		"Base64":         {"as the API server has it", []string{"hunter2"}, "aHVudGVyMg==", Mark + "=="},
		"Base64NoPad":    {"as JSON web tokens have it", []string{"hunter2"}, "x.aHVudGVyMg.y", "x." + Mark + ".y"},
		"Newline":        {"programs trim what they read from files", []string{"hunter2\n"}, "got hunter2", "got " + Mark},
		"JSON":           {"quoted in JSON", []string{`hun"ter2`}, `{"p":"hun\"ter2"}`, `{"p":"` + Mark + `"}`},
		"JSONInJSON":     {"an event's text holds JSON and is written as JSON", []string{`hun"ter2`}, `{"stdout":"{\"p\":\"hun\\\"ter2\"}"}`, `{"stdout":"{\"p\":\"` + Mark + `\"}"}`},
		"ASCII":          {"Python writes JSON in ASCII", []string{"hünter𝄞"}, `"h\u00fcnter\ud834\udd1e"`, `"` + Mark + `"`},
		"HTML":           {"Go writes JSON that is safe in HTML", []string{"a<b>c&d"}, `"a\u003cb\u003ec\u0026d"`, `"` + Mark + `"`},
		"URL":            {"in a query and in a path", []string{"p@ss w/rd"}, "?p=p%40ss+w%2Frd /p@ss%20w%2Frd", "?p=" + Mark + " /" + Mark},
		"Python":         {"Python's repr of a text with both quotes", []string{`it's"so`}, `'it\'s"so'`, `'` + Mark + `'`},
		"Lines":          {"each line of a key; its frame is no secret", []string{key}, "line 2: hkiG9w0BAQEFAASC, -----END KEY-----", "line 2: " + Mark + ", -----END KEY-----"},
		"Whole":          {"and all of it", []string{key}, key, Mark + "\n"},
		"Settings":       {"what a line sets, not the name of the setting", []string{"user: somebody\npassword: \"hunter2hunter2\"\nSECRET_KEY=abc123abc123\n"}, "password hunter2hunter2 abc123abc123", "password " + Mark + " " + Mark},
		"Document":       {"the texts of a document", []string{`{"auths":{"r.example.com":{"password":"hunter2hunter2"}}}`}, "auths for r.example.com: hunter2hunter2", "auths for r.example.com: " + Mark},
		"TooShort":       {"four bytes are in every text", []string{"yes!", "5432"}, "yes! port 5432", "yes! port 5432"},
		"Common":         {"words that Secrets hold beside what is secret", []string{"false", "Admin", "localhost", "verify-full"}, "false admin localhost verify-full", "false admin localhost verify-full"},
		"Ports":          {"five digits are a port", []string{"30080"}, "port 30080", "port 30080"},
		"Pins":           {"six are not", []string{"493017"}, "pin 493017", "pin " + Mark},
		"Rulers":         {"nothing but signs", []string{"----------"}, "----------", "----------"},
		"Binary":         {"bytes that are no text", []string{"\xff\xfe\x00abc\x80"}, base64.StdEncoding.EncodeToString([]byte("\xff\xfe\x00abc\x80")), Mark + "=="},
		"MarkIsNotEaten": {"the mark's own words", []string{"redacted", "[redacted]", "hunter2"}, "hunter2 was redacted", Mark + " was redacted"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := learned(c.secrets...).String(c.text); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

// Programs break base64 after 76 characters; the lines of it are as good as the whole.
func TestWrappedBase64(t *testing.T) {
	secret := strings.Repeat("0123456789abcdefghij", 10)
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	var wrapped strings.Builder
	for len(encoded) > 76 {
		wrapped.WriteString(encoded[:76] + "\n")
		encoded = encoded[76:]
	}
	wrapped.WriteString(encoded)
	got := strings.Trim(strings.ReplaceAll(learned(secret).String(wrapped.String()), Mark, ""), "\n=")
	if got != "" {
		t.Errorf("this is left of wrapped base64: %q", got)
	}
}

func TestLearnSecret(t *testing.T) {
	secret := func(kind, value string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": kind,
			"metadata":   map[string]any{"name": "demo-name"},
			"data":       map[string]any{"some-key": base64.StdEncoding.EncodeToString([]byte(value)), "bad": "%%%not-base64", "n": 5.0},
			"stringData": map[string]any{"plain": "plain-" + value},
			"type":       "Opaque",
		}
	}
	text := func(value string) string {
		return value + " " + base64.StdEncoding.EncodeToString([]byte(value)) + " plain-" + value + " %%%not-base64 demo-name some-key Opaque"
	}
	const want = Mark + " " + Mark + " " + Mark + " " + Mark + " demo-name some-key Opaque"
	for name, c := range map[string]struct {
		reason string
		obj    map[string]any
		value  string
		learns bool
	}{
		"Secret": {"both fields, data in both forms; names and keys are no secrets", secret("Secret", "hunter2xx"), "hunter2xx", true},
		"List":   {"a task that lists Secrets", map[string]any{"apiVersion": "v1", "kind": "SecretList", "items": []any{secret("Secret", "hunter2xx"), "odd"}}, "hunter2xx", true},
		"Bare":   {"items of a list need not name their kind", map[string]any{"apiVersion": "v1", "kind": "SecretList", "items": []any{func() map[string]any { s := secret("Secret", "hunter2xx"); delete(s, "kind"); return s }()}}, "hunter2xx", true},
		"Other":  {"a ConfigMap has data, too, and it is no secret", secret("ConfigMap", "hunter2xx"), "hunter2xx", false},
		"Group":  {"somebody's own kind of this name", map[string]any{"apiVersion": "example.com/v1", "kind": "Secret", "data": map[string]any{"a": "aHVudGVyMnh4"}}, "hunter2xx", false},
		"Empty":  {"an object without anything", map[string]any{"apiVersion": "v1", "kind": "Secret"}, "hunter2xx", false},
	} {
		t.Run(name, func(t *testing.T) {
			v := &Values{}
			v.LearnSecret(c.obj)
			given := text(c.value)
			expected := given
			if c.learns {
				expected = want
			}
			if got := v.String(given); got != expected {
				t.Errorf("%s: got %q, want %q", c.reason, got, expected)
			}
		})
	}
}

func TestAny(t *testing.T) {
	v := learned("hunter2", "123456789", "1.2345678")
	given := map[string]any{
		"hunter2": "a hunter2", "hunter2 b": nil, "list": []any{"hunter2", int64(123456789), 123456789, 1.2345678, json.Number("123456789"), true, 7},
		"deep": map[string]any{"x": map[string]string{"y": "hunter2"}}, "texts": []string{"hunter2"}, "bytes": []byte("hunter2"),
		Mark: "clash", "empty": []any(nil), "none": map[string]any(nil),
	}
	kept, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		Mark: "clash", Mark + " 2": "a " + Mark, Mark + " b": nil, "list": []any{Mark, Mark, Mark, Mark, Mark, true, 7},
		"deep": map[string]any{"x": map[string]string{"y": Mark}}, "texts": []string{Mark}, "bytes": []byte(Mark),
		"empty": []any(nil), "none": map[string]any(nil),
	}
	if diff := cmp.Diff(want, v.Any(given)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if after, _ := json.Marshal(given); !bytes.Equal(kept, after) {
		t.Errorf("the original was changed: %s", after)
	}
}

// A run that lists all Secrets of a cluster must neither eat the operator's memory nor tell what it could not remember.
func TestTooManySecretsHideEverything(t *testing.T) {
	v := &Values{}
	for i := range 1000 {
		v.Learn(fmt.Appendf(nil, "%d-%s", i, strings.Repeat("x", 1000)))
	}
	if got := v.String("some text"); got != Full {
		t.Errorf("got %q, want %q", got, Full)
	}
	if v.patterns != nil || v.built != nil {
		t.Errorf("the secrets are still in memory")
	}
	if got := v.Any(map[string]any{"n": 7.0}); !cmp.Equal(got, map[string]any{"n": 7.0}) {
		t.Errorf("got %v, want a number of one digit to stay", got)
	}
}

func TestLongValues(t *testing.T) {
	secret := make([]byte, 100<<10)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(secret)
	encoded := base64.StdEncoding.EncodeToString(secret)
	v := learned(string(secret), strings.Repeat("ü", MaxValue))
	if v.size > MaxTotal/2 {
		t.Errorf("two values of which %d bytes count take %d bytes", MaxValue, v.size)
	}
	for _, text := range []string{string(secret), encoded} {
		if got := v.String(text); strings.Contains(got, text[:1000]) || !strings.Contains(got, Mark) {
			t.Errorf("the beginning of a long value is left")
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	v := &Values{}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			secret := fmt.Sprintf("secret-number-%d", i)
			v.Learn([]byte(secret))
			if got := v.String("a " + secret); got != "a "+Mark {
				t.Errorf("got %q right after %s was learned", got, secret)
			}
		})
	}
	group.Wait()
}

func FuzzLearnedValuesNeverSurvive(f *testing.F) {
	f.Add("hunter2", "secret", "a hunter2 b")
	f.Add("aaaaab", "aaaaa", "aaaaaaaab")
	f.Add("line one of it\nline two of it", "[redacted", "line one of it\nline two of it")
	f.Add("{\"a\":\"bcdefghi\"}", "key: value-value", "{\"a\":\"bcdefghi\"}")
	f.Add("abcde[redact", "fghij", "abcdefghij[redacted]")
	f.Fuzz(func(t *testing.T, one, two, text string) {
		v := learned(one, two)
		escaped, err := json.Marshal(one)
		if err != nil {
			t.Skip() // no text
		}
		encoded := base64.StdEncoding.EncodeToString([]byte(one))
		out := v.String(text + " " + one + " " + two + one + " " + encoded + string(escaped))
		for piece := range strings.SplitSeq(out, Mark) {
			for _, secret := range []string{one, two} {
				if len(formsOf([]byte(secret))) > 0 && strings.Contains(piece, secret) {
					t.Errorf("%q is in %q", secret, out)
				}
			}
			if len(formsOf([]byte(one))) > 0 && strings.Contains(piece, encoded) {
				t.Errorf("the base64 of %q is in %q", one, out)
			}
		}
		if again := v.String(out); strings.ReplaceAll(again, Mark, "") != strings.ReplaceAll(out, Mark, "") && !strings.Contains(one+two+text, "[") {
			t.Errorf("a second look finds more: %q, then %q", out, again)
		}
	})
}

// BenchmarkString is a text of 1 MiB against 200 values.
func BenchmarkString(b *testing.B) {
	for name, text := range map[string]string{
		"Log":   strings.Repeat(`ok: [localhost] => {"changed": false, "msg": "All assertions passed", "path": "/opt/ansible/roles/demo"} `, 10000),
		"Worst": strings.Repeat("value-00", 131072), // made of beginnings of the values
	} {
		b.Run(name, func(b *testing.B) {
			v := &Values{}
			for i := range 200 {
				v.Learn(fmt.Appendf(nil, "value-%03d-%s", i, strings.Repeat("abcdefgh", 5)))
			}
			text = text[:1<<20]
			v.String("build the automaton")
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				v.String(text)
			}
		})
	}
}

// BenchmarkLearn is what 200 values cost once.
func BenchmarkLearn(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		v := &Values{}
		for i := range 200 {
			v.Learn(fmt.Appendf(nil, "value-%03d-%s", i, strings.Repeat("abcdefgh", 5)))
		}
		v.String("build the automaton")
	}
}
