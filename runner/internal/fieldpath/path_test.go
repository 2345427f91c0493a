package fieldpath

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct{ reason, text, want, wrong string }{
		{reason: "keys", text: "spec.size", want: "spec.size"},
		{reason: "keys of specs may have hyphens", text: "spec.node-count", want: "spec.node-count"},
		{reason: "an index", text: "spec.ports[0].port", want: "spec.ports[0].port"},
		{reason: "all items", text: "spec.ports[*].port", want: "spec.ports[*].port"},
		{reason: "a key of labels", text: `metadata.labels["app.kubernetes.io/name"]`, want: `metadata.labels["app.kubernetes.io/name"]`},
		{reason: "either quotes, since YAML may take the others", text: `metadata.labels['a/b']`, want: `metadata.labels["a/b"]`},
		{reason: "quotes that nobody needs", text: `spec["size"]`, want: "spec.size"},
		{reason: "a quote inside quotes", text: `spec["a\"b"]`, want: `spec["a\"b"]`},
		{reason: "nothing", text: "", wrong: "empty"},
		{reason: "kubectl's JSON paths begin with a dot", text: ".spec.size", wrong: "without a dot"},
		{reason: "two dots", text: "spec..size", wrong: "no plain key"},
		{reason: "a dot at the end", text: "spec.", wrong: "after the last dot"},
		{reason: "an index is not negative", text: "spec.ports[-1]", wrong: "index"},
		{reason: "a key in brackets has quotes", text: "spec[size]", wrong: "index"},
		{reason: "an open bracket", text: "spec.ports[0", wrong: "not closed"},
		{reason: "an open quote", text: `spec["a`, wrong: "not closed"},
		{reason: "an escape at the end", text: `spec["a\`, wrong: "not closed"},
		{reason: "a bracket first", text: `["spec"]`, wrong: "begins with a key"},
		{reason: "a key with a slash", text: "metadata.labels.a/b", wrong: "dot or bracket"},
		{reason: "spaces", text: "spec. size", wrong: "no plain key"},
		{reason: "too long", text: "spec." + strings.Repeat("a", MaxLength), wrong: "at most"},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			path, err := Parse(tt.text)
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("the error is %v, want one with %q", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := path.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// FuzzParse checks that what is read and written is read as the same again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"spec.size", `a["b/c"][0][*].d`, "a['\\u00e9']", "a[", `a["\`, "."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := Parse(text)
		if err != nil {
			return
		}
		written := path.String()
		if len(written) > MaxLength {
			return // escapes made it longer
		}
		again, err := Parse(written)
		if err != nil {
			t.Fatalf("%q was read and written as %q, which is refused: %v", text, written, err)
		}
		if diff := cmp.Diff(path, again); diff != "" {
			t.Errorf("%q is read again as something else (-first +second):\n%s", written, diff)
		}
	})
}
