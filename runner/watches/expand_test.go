package watches

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Covers AO 10.5 no. 4.
func TestExpand(t *testing.T) {
	env := environment(map[string]string{"NAME": "value", "EMPTY": "", "LINES": "one\ntwo", "1": "first"})
	cases := []struct{ reason, in, want string }{
		{"a variable is put in", "a: $NAME", "a: value"},
		{"braces part the name from what follows", "a: ${NAME}s", "a: values"},
		{"a variable may be empty", "a: '$EMPTY'", "a: ''"},
		{"a value is put in as it stands, with its line breaks", "$LINES", "one\ntwo"},
		{"keys are text too", "$NAME: 1", "value: 1"},
		{"a variable that is not set keeps its name, in braces", "$UNDEF", "${UNDEF}"},
		{"so does one in braces", "${UNDEF}", "${UNDEF}"},
		{"a dollar sign is a variable of one character after another", "$$", "${$}"},
		{"a price looks like a variable", "price: $5", "price: ${5}"},
		{"a variable of one digit ends there", "$1st", "firstst"},
		{"at signs are variables too", "$@", "${@}"},
		{"a dollar sign at the end is itself", "^a$", "^a$"},
		{"so is one before a quote", "'$'", "'$'"},
		{"so is one after Jinja", "{{ x }}$", "{{ x }}$"},
		{"so is one before a parenthesis", "$(x)", "$(x)"},
		{"empty braces vanish", "a${}b", "ab"},
		{"an open brace without an end vanishes", "${FOO", "FOO"},
		{"there are no defaults: all of it is the name", "${FOO:-d}", "${FOO:-d}"},
		{"a name in braces may span lines, as nonsense may", "${A\nB}", "${A\nB}"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			got, err := expand(c.in, nil, env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.text); diff != "" {
				t.Errorf("expand(%q) (-want +got):\n%s", c.in, diff)
			}
		})
	}
}

func TestExpandLeavesOutSpans(t *testing.T) {
	env := environment(map[string]string{"A": "x"})
	got, err := expand("$A [$A] $A", []span{{3, 7}}, env)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("x [$A] x", got.text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExpandOrigin(t *testing.T) {
	env := environment(map[string]string{"LONG": "0123456789"})
	const text = "ab $LONG cd ${NONE} ${} ef"
	got, err := expand(text, nil, env)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"ab", "cd", "${NONE}", "ef"} {
		if origin := got.origin(strings.Index(got.text, word)); origin != strings.Index(text, word) {
			t.Errorf("origin of %q is %d, want %d", word, origin, strings.Index(text, word))
		}
	}
	if origin := got.origin(strings.Index(got.text, "5")); origin != strings.Index(text, "$LONG") {
		t.Errorf("the inside of a value comes from %d, want the variable at %d", origin, strings.Index(text, "$LONG"))
	}
}

func TestExpandIsBounded(t *testing.T) {
	env := environment(map[string]string{"A": strings.Repeat("x", 100_000)})
	if _, err := expand(strings.Repeat("$A", 500_000), nil, env); err == nil {
		t.Error("fifty gigabytes of text were accepted")
	}
}

func TestExpandIsLinear(t *testing.T) {
	// Each of these would make a search to the end of the text; the test's deadline is what fails.
	if _, err := expand(strings.Repeat("${", maxFile/2), nil, environment(nil)); err != nil {
		t.Error(err)
	}
}

// FuzzExpand compares the expansion with os.Expand, which the old tool used, and checks the way back.
func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "$", "$A", "${A}", "${", "${}", "$$A", "a$B-${C}}", "${A$B}", "$1", "\xff$A", "${{}}"} {
		f.Add(seed)
	}
	env := environment(map[string]string{"A": "alpha", "B": "", "1": "$A"})
	f.Fuzz(func(t *testing.T, text string) {
		got, err := expand(text, nil, env)
		if err != nil {
			t.Fatal(err)
		}
		want := os.Expand(text, func(name string) string {
			if value, ok := env(name); ok {
				return value
			}
			return "${" + name + "}"
		})
		if got.text != want {
			t.Errorf("expand(%q) = %q, want %q", text, got.text, want)
		}
		for i := range got.text {
			if origin := got.origin(i); origin < 0 || origin >= len(text) {
				t.Errorf("expand(%q): offset %d comes from %d, which is outside", text, i, origin)
			}
		}
	})
}
