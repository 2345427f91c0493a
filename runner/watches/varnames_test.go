package watches

import (
	"errors"
	"strings"
	"testing"
)

// A key that is no name of a variable reaches Ansible, where no expression can use it.
func TestNamesOfVarsAreChecked(t *testing.T) {
	const text = `- {version: v1, kind: X, group: a.example.com, role: app, markUnsafe: true, vars: {"a b": 1, "": 2, "1x": 3, größe: 4, a-b: 5, _ok: 6, ok2: {"any key": 7}},
   finalizer: {name: a.example.com/f, vars: {"c d": 1}}}
`
	options := Options{Dir: projectDir(t), LookupEnv: environment(nil)}
	file, err := Decode("watches.yaml", []byte(text), options)
	if err != nil {
		t.Fatalf("old files may have such names: %v", err)
	}
	var told strings.Builder
	for _, warning := range file.Warnings {
		told.WriteString(warning.String() + "\n")
	}
	for _, name := range []string{`"a b"`, `""`, `"1x"`, `"größe"`, `"a-b"`, `finalizer.vars: "c d"`} {
		if !strings.Contains(told.String(), name+" is no name of a variable") {
			t.Errorf("%s is not told:\n%s", name, told.String())
		}
	}
	if len(file.Warnings) != 6 {
		t.Errorf("%d warnings, want 6:\n%s", len(file.Warnings), told.String())
	}
	options.Strict = true
	_, err = Decode("watches.yaml", []byte(text), options)
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != 6 {
		t.Errorf("strict: %v", err)
	}
}
