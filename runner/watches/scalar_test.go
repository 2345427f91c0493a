package watches

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	oldyaml "sigs.k8s.io/yaml"
)

func TestScalarNumbers(t *testing.T) {
	cases := []struct {
		reason, in string
		want       any
	}{
		{"the first integer that a float cannot hold", "9007199254740993", int64(9007199254740993)},
		{"the largest int64", "9223372036854775807", int64(9223372036854775807)},
		{"beyond it the digits are kept", "9223372036854775808", json.Number("9223372036854775808")},
		{"also beyond 64 bits", "123456789012345678901234567890", json.Number("123456789012345678901234567890")},
		{"and with a sign", "-123456789012345678901234567890", json.Number("-123456789012345678901234567890")},
		{"a row of digits beyond any float is text", strings.Repeat("9", 400), strings.Repeat("9", 400)},
		{"a plus sign is no part of a number", "+18446744073709551616", json.Number("18446744073709551616")},
		{"large hexadecimal numbers become decimal", "0xffffffffffffffff", json.Number("18446744073709551615")},
		{"underscores part digits", "1_000", int64(1000)},
		{"a leading zero makes it octal", "0123", int64(83)},
		{"an exponent makes it a float", "1e3", float64(1000)},
		{"a float that is too large is text, as it was", "1e999", "1e999"},
		{"an octal that is none is a float, as it was", "0189", float64(189)},
		{"a sign alone is text", "-", "-"},
		{"a date is text", "2001-01-01", "2001-01-01"},
		{"a version is text", "1.2.3", "1.2.3"},
		{"a time is text and no sexagesimal number", "12:30", "12:30"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if diff := cmp.Diff(c.want, plain(c.in)); diff != "" {
				t.Errorf("plain(%q) (-want +got):\n%s", c.in, diff)
			}
		})
	}
}

// FuzzScalar compares a scalar's value with that of the library that both old tools used. The only difference allowed
// is that integers keep all their digits.
func FuzzScalar(f *testing.F) {
	for word := range words {
		f.Add(word)
	}
	for _, seed := range []string{
		"yes", "'yes'", `"1"`, "0x1F", "0o17", "0b101", "-0b11", "017", "1_0", "1.50", ".5", "5.", "-.5e-3", "1e3", "1E400", "+1", "++1", "0_", "0x",
		"18446744073709551615", "18446744073709551616", "!!str 1", "!!int '1'", "!!float 1", "!!bool yes", "!!null ''", "!local x", "!!binary aGk=",
		"2001-12-14t21:59:43.10-05:00", "<<", "=", "a b", "é", "1__2", "-", "1e", "0e0", "-0", "0.0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := comparableScalar(text)
		if n == nil {
			t.Skip("no scalar, or one that the two libraries cannot be compared on")
		}
		got, err := scalar(n)
		var want any
		wantErr := oldyaml.Unmarshal([]byte(text), &want)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%q: error %v, want %v", text, err, wantErr)
		}
		if err == nil && !sameValue(want, got) {
			t.Errorf("%q is %#v, want %#v", text, got, want)
		}
	})
}

// comparableScalar reads a text that is one scalar. The new library loses the tag "!" and has other line breaks.
func comparableScalar(text string) *yaml.Node {
	var document yaml.Node
	if yaml.Unmarshal([]byte(text), &document) != nil || document.Kind != yaml.DocumentNode {
		return nil
	}
	n := document.Content[0]
	losesTag := strings.Contains(text, "!") && n.Style&yaml.TaggedStyle == 0 && !quoted(n)
	if n.Kind != yaml.ScalarNode || n.Anchor != "" || losesTag || strings.ContainsAny(text, "\u0085\u2028\u2029\ufeff") {
		return nil
	}
	return n
}

// sameValue compares what JSON made a float64 with a value that may have more digits.
func sameValue(want, got any) bool {
	float, ok := want.(float64)
	if !ok {
		return cmp.Equal(want, got)
	}
	switch v := got.(type) {
	case float64:
		return v == float
	case int64:
		return float64(v) == float
	case json.Number:
		i, ok := new(big.Int).SetString(string(v), 10)
		f, _ := new(big.Float).SetInt(i).Float64()
		return ok && f == float
	}
	return false
}
