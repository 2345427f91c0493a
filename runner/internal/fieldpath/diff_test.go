package fieldpath

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func decoded(t testing.TB, text string) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestDiff(t *testing.T) {
	tests := []struct {
		reason, old, now string
		want             []string
	}{
		{"nothing", `{"a": {"b": [1, null]}}`, `{"a": {"b": [1, null]}}`, nil},
		{"a value", `{"size": 1}`, `{"size": 2}`, []string{"spec.size"}},
		{"a value of another type", `{"size": 1}`, `{"size": "1"}`, []string{"spec.size"}},
		{"a key that came is named and not what is in it", `{}`, `{"a": {"b": 1, "c": 2}}`, []string{"spec.a"}},
		{"a key that went", `{"a": {"b": 1}}`, `{}`, []string{"spec.a"}},
		{"a null is something else than nothing", `{"a": null}`, `{}`, []string{"spec.a"}},
		{"two places, in order", `{"z": 1, "a": {"b": 1}}`, `{"z": 2, "a": {"b": 2}}`, []string{"spec.a.b", "spec.z"}},
		{"an item of a list", `{"ports": [{"port": 1}, {"port": 2}]}`, `{"ports": [{"port": 1}, {"port": 3}]}`, []string{"spec.ports[1].port"}},
		{"a list of another length: which item came is unknown", `{"ports": [1, 2]}`, `{"ports": [2]}`, []string{"spec.ports"}},
		{"a key that is no word", `{"a/b": 1}`, `{"a/b": 2}`, []string{`spec["a/b"]`}},
		{"a mapping in place of a list", `{"a": [1]}`, `{"a": {"b": 1}}`, []string{"spec.a"}},
		{"a key too long to tell", `{"a": {"` + strings.Repeat("k", 300) + `": 1}}`, `{"a": {"` + strings.Repeat("k", 300) + `": 2}}`, []string{"spec.a"}},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			got := Diff(Path{{Key: "spec"}}, decoded(t, tt.old), decoded(t, tt.now)).List()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestChanged(t *testing.T) {
	const old = `{"spec": {"size": 1, "empty": null, "ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "b"}], "map": {"x": {"y": 1}}}}`
	tests := []struct {
		reason, path, now string
		want              bool
	}{
		{"the value", "spec.size", `{"spec": {"size": 2}}`, true},
		{"it is gone", "spec.size", `{"spec": {}}`, true},
		{"all is gone", "spec.size", `{}`, true},
		{"it never was", "spec.other.below", `{"spec": {}}`, false},
		{"a null that goes", "spec.empty", `{"spec": {}}`, true},
		{"something inside it", "spec.map", `{"spec": {"map": {"x": {"y": 2}}}}`, true},
		{"something beside it", "spec.size", `{"spec": {"size": 1, "new": 1}}`, false},
		{"an item", "spec.ports[1].port", `{"spec": {"ports": [{"port": 1}, {"port": 3}]}}`, true},
		{"another item", "spec.ports[0].port", `{"spec": {"ports": [{"port": 1}, {"port": 3}]}}`, false},
		{"any item", "spec.ports[*].port", `{"spec": {"ports": [{"port": 1}, {"port": 3}]}}`, true},
		{"another key of any item", "spec.ports[*].port", `{"spec": {"ports": [{"port": 1, "name": "z"}, {"port": 2, "name": "z"}]}}`, false},
		{"an item more that has it", "spec.ports[*].port", `{"spec": {"ports": [{"port": 1}, {"port": 2}, {"port": 3}]}}`, true},
		{"an item more that has it not", "spec.ports[*].port", `{"spec": {"ports": [{"port": 1}, {"port": 2}, {"name": "z"}]}}`, false},
		{"any value of a mapping", "spec.map[*].y", `{"spec": {"map": {"x": {"y": 2}}}}`, true},
		{"a key of a list leads nowhere", "spec.ports.port", `{"spec": {"ports": []}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			path, err := Parse(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			if got := path.Changed(decoded(t, old), decoded(t, tt.now)); got != tt.want {
				t.Errorf("%s: %v, want %v", tt.path, got, tt.want)
			}
			if got := path.Changed(decoded(t, tt.now), decoded(t, old)); got != tt.want {
				t.Errorf("%s, the other way round: %v, want %v", tt.path, got, tt.want)
			}
		})
	}
}

func TestSetIsBounded(t *testing.T) {
	var up, down, both Set
	for i := range 3 * MaxPaths {
		up.Add(fmt.Sprintf("spec.p%03d", i))
		down.Add(fmt.Sprintf("spec.p%03d", 3*MaxPaths-1-i))
	}
	both.Merge(down)
	both.Merge(up)
	want := up.List()
	if len(want) != MaxPaths+1 || want[0] != "spec.p000" || want[MaxPaths-1] != "spec.p063" || want[MaxPaths] != "..." {
		t.Errorf("kept are %v", want)
	}
	for _, got := range []Set{down, both} {
		if diff := cmp.Diff(want, got.List()); diff != "" {
			t.Errorf("what is kept depends on the order (-want +got):\n%s", diff)
		}
	}
}

func TestSentence(t *testing.T) {
	tests := map[string][]string{
		"":                                  nil,
		"spec.a changed":                    {"spec.a"},
		"spec.a and spec.b changed":         {"spec.b", "spec.a"},
		"spec.a, spec.b and spec.c changed": {"spec.c", "spec.b", "spec.a"},
		"spec.a, spec.b, spec.c and others changed": {"spec.d", "spec.c", "spec.b", "spec.a"},
		"spec.a and others changed":                 {"spec.a", "..."},
	}
	for want, paths := range tests {
		var s Set
		for _, path := range paths {
			s.Add(path)
		}
		if got := s.Sentence(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzDiff checks that a difference is found exactly where there is one, and that each place found is one that changed.
func FuzzDiff(f *testing.F) {
	f.Add(`{"a": [1, {"b": null}]}`, `{"a": [1, {"b": 2}], "c/d": true}`)
	f.Add(`{"a": []}`, `{"a": {}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		var old, now map[string]any
		if json.Unmarshal([]byte(a), &old) != nil || json.Unmarshal([]byte(b), &now) != nil {
			return
		}
		root := Path{{Key: "spec"}}
		found := Diff(root, old, now)
		if found.Empty() != Equal(old, now) {
			t.Fatalf("the values are equal: %v, the difference is %v", Equal(old, now), found.List())
		}
		for _, text := range found.List() {
			path, err := Parse(text)
			if text == "..." || err != nil && strings.Contains(text, `\`) {
				continue
			}
			if err != nil {
				t.Fatalf("the path %q cannot be read: %v", text, err)
			}
			if !path.Changed(map[string]any{"spec": old}, map[string]any{"spec": now}) {
				t.Errorf("%s did not change", text)
			}
		}
	})
}
