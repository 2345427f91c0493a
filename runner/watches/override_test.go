package watches

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOverrideValues is the table of what becomes of an override value: the text after expansion, and what a chart sees.
// docs/watches.md explains the rules.
func TestOverrideValues(t *testing.T) {
	env := map[string]string{
		"IMAGE":    "registry.example.com:5000/team/app:1.16",
		"DIGEST":   "registry.example.com/app@sha256:0123456789abcdef",
		"ENABLED":  "false",
		"REPLICAS": "5",
		"NOPROXY":  "10.0.0.0/8,.svc,localhost",
		"ESCAPED":  `a\,b`,
		"LIST":     "{a,b}",
		"SPECIAL":  `"': #x`,
		"NULL":     "null",
		"EMPTY":    "",
		"TEMPLATE": "{{ upper \"x\" }}",
	}
	cases := []struct {
		reason, written string
		want            map[string]any
		text            string // of the value after expansion
	}{
		{"a plain number is a number", "v: 5", map[string]any{"v": int64(5)}, "5"},
		{"a quoted number stays text", `v: "5"`, map[string]any{"v": "5"}, "5"},
		{"a plain boolean is a boolean", "v: false", map[string]any{"v": false}, "false"},
		{"so is a word of YAML 1.1", "v: yes", map[string]any{"v": true}, "true"},
		{"a quoted boolean stays text", "v: 'false'", map[string]any{"v": "false"}, "false"},
		{"a float is text, as with --set, in its shortest form", "v: 1.50", map[string]any{"v": "1.5"}, "1.5"},
		{"an octal number is decimal", "v: 0123", map[string]any{"v": int64(83)}, "83"},
		{"a number with an exponent is an integer if it is one", "v: 1e3", map[string]any{"v": int64(1000)}, "1000"},
		{"a large integer keeps its digits", "v: 9007199254740993", map[string]any{"v": int64(9007199254740993)}, "9007199254740993"},
		{"beyond 64 bits it is text with all its digits", "v: 18446744073709551616", map[string]any{"v": "18446744073709551616"}, "18446744073709551616"},
		{"nothing is the empty string", "v:", map[string]any{"v": ""}, ""},
		{"a null that is spelled out removes a default", "v: null", map[string]any{"v": nil}, "null"},
		{"a quoted null stays text", "v: 'null'", map[string]any{"v": "null"}, "null"},
		{"the tag for text keeps text", "v: !!str 5", map[string]any{"v": "5"}, "5"},
		{"so it does around a template", `v: !!str '{{ "5" }}'`, map[string]any{"v": "5"}, "5"},
		{"a block of text stays text", "v: |-\n  5", map[string]any{"v": "5"}, "5"},

		{"a variable has the type of its value", "v: $ENABLED", map[string]any{"v": false}, "false"},
		{"in braces too", "v: ${REPLICAS}", map[string]any{"v": int64(5)}, "5"},
		{"a quoted variable stays text", `v: "$ENABLED"`, map[string]any{"v": "false"}, "false"},
		{"a variable that is not set is the empty string", "v: $MISSING", map[string]any{"v": ""}, ""},
		{"so is an empty one", "v: x$EMPTY", map[string]any{"v": "x"}, "x"},
		{"a dollar sign that names nothing is kept", "v: a$", map[string]any{"v": "a$"}, "a$"},
		{"a variable may hold what YAML would stumble over", "v: $SPECIAL", map[string]any{"v": `"': #x`}, `"': #x`},
		{"a variable that says null removes a default", "v: $NULL", map[string]any{"v": nil}, "null"},
		{"a variable may hold a template, as ever", "v: $TEMPLATE", map[string]any{"v": "X"}, "X"},

		{"a template splits an image", `v: '{{ ("$IMAGE" | split ":")._2 }}'`, map[string]any{"v": "1.16"}, "1.16"},
		{"the first part of it", `v: '{{ ("$IMAGE" | splitList ":" | initial | join ":") }}'`, map[string]any{"v": "registry.example.com:5000/team/app"}, "registry.example.com:5000/team/app"},
		{"a digest", `v: '{{ ("$DIGEST" | split "@")._1 }}'`, map[string]any{"v": "sha256:0123456789abcdef"}, "sha256:0123456789abcdef"},
		{"what a template gives has a type although YAML wants it quoted", `v: '{{ "$ENABLED" }}'`, map[string]any{"v": false}, "false"},
		{"a template sees the environment through a function", `v: '{{ env "REPLICAS" }}'`, map[string]any{"v": int64(5)}, "5"},

		{"a comma in a variable belongs to the value", "v: $NOPROXY", map[string]any{"v": "10.0.0.0/8,.svc,localhost"}, `10.0.0.0/8\,.svc\,localhost`},
		{"also when it is quoted", `v: "$NOPROXY"`, map[string]any{"v": "10.0.0.0/8,.svc,localhost"}, `10.0.0.0/8\,.svc\,localhost`},
		{"unless someone has escaped it already", "v: $ESCAPED", map[string]any{"v": "a,b"}, `a\,b`},
		{"and unless the value is a list", `v: "{$NOPROXY}"`, map[string]any{"v": []any{"10.0.0.0/8", ".svc", "localhost"}}, "{10.0.0.0/8,.svc,localhost}"},
		{"a variable may be a list", "v: $LIST", map[string]any{"v": []any{"a", "b"}}, "{a,b}"},
		{"a comma that is written separates assignments, as with --set", `v: "1,w=2"`, map[string]any{"v": "1", "w": "2"}, "1,w=2"},
		{"unless it is escaped", `v: '1\,w=2'`, map[string]any{"v": "1,w=2"}, `1\,w=2`},
		{"a list is written in braces", `v: "{a,b,5}"`, map[string]any{"v": []any{"a", "b", "5"}}, "{a,b,5}"},
		{"dots nest", "a.b.c: 1", map[string]any{"a": map[string]any{"b": map[string]any{"c": int64(1)}}}, "1"},
		{"an escaped dot does not", `'a\.b': 1`, map[string]any{"a.b": int64(1)}, "1"},
		{"an index reaches into a list", "a[1].b: x", map[string]any{"a": []any{nil, map[string]any{"b": "x"}}}, "x"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			values := decodeOverrides(t, "    "+strings.ReplaceAll(c.written, "\n", "\n    "), env)
			got := map[string]any{}
			for _, value := range values {
				if err := value.Apply(got); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.written, diff)
			}
			if values[0].Value != c.text {
				t.Errorf("%s: the text is %q, want %q", c.written, values[0].Value, c.text)
			}
		})
	}
}

// decodeOverrides reads a watch with the given lines as its override values.
func decodeOverrides(t *testing.T, lines string, env map[string]string) []OverrideValue {
	t.Helper()
	text := fmt.Sprintf("- version: v1\n  group: a.example.com\n  kind: X\n  chart: charts/web\n  overrideValues:\n%s\n", lines)
	file, err := Decode("watches.yaml", []byte(text), Options{Dir: projectDir(t), LookupEnv: environment(env)})
	if err != nil {
		t.Fatal(err)
	}
	return file.Watches[0].OverrideValues
}

func TestOverrideValuesKeepTheFilesOrder(t *testing.T) {
	values := decodeOverrides(t, "    z: 1\n    a: 2\n    m: 3", nil)
	var keys []string
	for _, value := range values {
		keys = append(keys, value.Key)
	}
	if diff := cmp.Diff([]string{"z", "a", "m"}, keys); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOverrideValuesAfterTheGeneralRule covers a file that is YAML only with its environment: the general rule then
// comes first, and a variable that is not set becomes empty all the same.
func TestOverrideValuesAfterTheGeneralRule(t *testing.T) {
	text := "- version: v1\n  group: a.example.com\n  kind: X\n  chart: charts/web\n$REST\n  overrideValues: {a: $A, b: '$NONE'}\n"
	env := map[string]string{"REST": "  reconcilePeriod: 1m", "A": "5"}
	file, err := Decode("watches.yaml", []byte(text), Options{Dir: projectDir(t), LookupEnv: environment(env)})
	if err != nil {
		t.Fatal(err)
	}
	want := []OverrideValue{{Key: "a", Value: "5"}, {Key: "b", Value: "", String: true}}
	if diff := cmp.Diff(want, file.Watches[0].OverrideValues); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOverrideTemplateIsBounded(t *testing.T) {
	d := &decoder{options: Options{LookupEnv: environment(nil)}}
	if _, err := d.renderOverride(`{{ range until 100000 }}xxxxxxxxxx{{ end }}`); err == nil {
		t.Error("a template that prints a megabyte was accepted")
	}
}
