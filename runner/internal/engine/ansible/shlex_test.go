package ansible

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitArgs(t *testing.T) {
	tests := []struct {
		why, text string
		want      []string
		fails     bool
	}{
		{why: "nothing", text: ""},
		{why: "blanks only", text: " \t\n "},
		{why: "words", text: "--tags  a,b\t-v", want: []string{"--tags", "a,b", "-v"}},
		{why: "one pair of quotes around all goes, as scaffolds write it", text: "'--vault-password-file /opt/pwd.yml'",
			want: []string{"--vault-password-file", "/opt/pwd.yml"}},
		{why: "only one pair", text: "''--tags' a'", want: []string{"--tags", "a"}},
		{why: "quotes inside a word", text: `--e='a b'"c d"e`, want: []string{"--e=a bc de"}},
		{why: "JSON survives", text: `--extra-vars '{"a": "b c"}' -v`, want: []string{"--extra-vars", `{"a": "b c"}`, "-v"}},
		{why: "an empty word is a word", text: `a "" b`, want: []string{"a", "", "b"}},
		{why: "a backslash keeps a blank", text: `a\ b c`, want: []string{"a b", "c"}},
		{why: "in double quotes it escapes quotes and itself only", text: `"a\"b\\c\d"`, want: []string{`a"b\c\d`}},
		{why: "in single quotes it is nothing special", text: `x 'a\' y`, want: []string{"x", `a\`, "y"}},
		{why: "no comments", text: "a #b", want: []string{"a", "#b"}},
		{why: "no expansion", text: "$HOME *", want: []string{"$HOME", "*"}},
		{why: "an open single quote", text: "a 'b", fails: true},
		{why: "an open double quote", text: `a "b`, fails: true},
		{why: "an open double quote after a backslash", text: `a "b\`, fails: true},
		{why: "a backslash at the end", text: `a \`, fails: true},
	}
	for _, tt := range tests {
		got, err := splitArgs(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.fails {
			t.Errorf("%s: error %v (-want +got):\n%s", tt.why, err, diff)
		}
	}
}

// FuzzSplitArgs compares with Python's shlex, which the old operator used.
func FuzzSplitArgs(f *testing.F) {
	for _, seed := range []string{"", "a b", `"a\"b" 'c'`, `a\ b`, `''`, "a'b", `\`, "é ü", "a#b #c"} {
		f.Add(seed)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		f.Skip(err)
	}
	const script = "import json, shlex, sys\ntry: print(json.dumps(shlex.split(sys.argv[1])))\nexcept ValueError: print('null')"
	f.Fuzz(func(t *testing.T, text string) {
		trimmed := strings.TrimSpace(text)
		if strings.ContainsRune(text, 0) || strings.HasPrefix(trimmed, "'") || trimmed != strings.ToValidUTF8(text, "") {
			return // no argument of a program; the enclosing pair of quotes is ours
		}
		out, err := exec.CommandContext(t.Context(), python, "-c", script, text).Output()
		if err != nil {
			t.Skip(err)
		}
		var want []string
		if err := json.Unmarshal(out, &want); err != nil {
			t.Fatal(err)
		}
		fails := strings.TrimSpace(string(out)) == "null"
		got, err := splitArgs(text)
		if (err != nil) != fails || strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Errorf("%q gives %q, %v; Python says %q", text, got, err, want)
		}
	})
}
