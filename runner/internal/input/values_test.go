package input

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/watches"
)

func TestValues(t *testing.T) {
	type overrides = []watches.OverrideValue
	cases := []struct {
		reason    string
		spec      string
		overrides overrides
		want      map[string]any
	}{
		{"the spec is the values", `{"a":{"b":[1,"x",null]}}`, nil, map[string]any{"a": map[string]any{"b": []any{int64(1), "x", nil}}}},
		{"a null spec is empty", `null`, nil, map[string]any{}},
		{"large integers keep their digits", `{"n":9007199254740993}`, nil, map[string]any{"n": int64(9007199254740993)}},
		{"keys with braces are keys", `{"{{ x }}":"{{ y }}"}`, nil, map[string]any{"{{ x }}": "{{ y }}"}},

		{"an override wins over the spec", `{"a":1,"b":2}`, overrides{{Key: "a", Value: "5"}}, map[string]any{"a": int64(5), "b": int64(2)}},
		{"it is typed", `{}`, overrides{{Key: "a", Value: "false"}, {Key: "b", Value: "1.16"}, {Key: "c", Value: "007"}}, map[string]any{"a": false, "b": "1.16", "c": "007"}},
		{"unless it is to stay a string", `{}`, overrides{{Key: "a", Value: "false", String: true}, {Key: "n", Value: "null", String: true}}, map[string]any{"a": "false", "n": "null"}},
		{"null hides what the spec says, so that Helm drops the default too", `{"a":{"b":1}}`, overrides{{Key: "a.b", Value: "null"}}, map[string]any{"a": map[string]any{"b": nil}}},
		{"dots reach into mappings and leave the rest", `{"image":{"tag":"1","pull":"Always"}}`, overrides{{Key: "image.tag", Value: "2.0"}}, map[string]any{"image": map[string]any{"tag": "2.0", "pull": "Always"}}},
		{"a missing mapping is made", `{}`, overrides{{Key: "a.b.c", Value: "x"}}, map[string]any{"a": map[string]any{"b": map[string]any{"c": "x"}}}},
		{"a list in braces replaces the spec's", `{"l":[1,2,3]}`, overrides{{Key: "l", Value: "{a,b}"}}, map[string]any{"l": []any{"a", "b"}}},
		{"an index changes one item", `{"l":[{"n":"a","p":1},{"n":"b"}]}`, overrides{{Key: "l[0].n", Value: "x"}}, map[string]any{"l": []any{map[string]any{"n": "x", "p": int64(1)}, map[string]any{"n": "b"}}}},
		{"a comma separates assignments", `{}`, overrides{{Key: "a", Value: "1,b=2"}}, map[string]any{"a": int64(1), "b": int64(2)}},
		{"an escaped one does not", `{}`, overrides{{Key: "a", Value: `1\,b=2`}}, map[string]any{"a": "1,b=2"}},
		{"a digest is text", `{}`, overrides{{Key: "image", Value: "app@sha256:0123"}}, map[string]any{"image": "app@sha256:0123"}},
		{"later ones win", `{}`, overrides{{Key: "a.b", Value: "1"}, {Key: "a", Value: "2"}}, map[string]any{"a": int64(2)}},
		{"in the file's order", `{}`, overrides{{Key: "a.b", Value: "2"}, {Key: "a.b", Value: "1"}, {Key: "a.c", Value: "3"}}, map[string]any{"a": map[string]any{"b": int64(1), "c": int64(3)}}},

		{"text in the way of a mapping gives way", `{"image":"nginx"}`, overrides{{Key: "image.repository", Value: "x"}}, map[string]any{"image": map[string]any{"repository": "x"}}},
		{"so does a null", `{"resources":null}`, overrides{{Key: "resources.limits.cpu", Value: "1"}}, map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": int64(1)}}}},
		{"so does a mapping in the way of a list", `{"l":{"a":1}}`, overrides{{Key: "l[0]", Value: "x"}}, map[string]any{"l": []any{"x"}}},
		{"so does text deeper down, and its neighbours stay", `{"a":{"b":"text","c":1}}`, overrides{{Key: "a.b.d", Value: "x"}}, map[string]any{"a": map[string]any{"b": map[string]any{"d": "x"}, "c": int64(1)}}},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			obj := object(t, sample(c.spec))
			got, err := Values(obj, watches.Watch{OverrideValues: c.overrides}, Given{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(object(t, sample(c.spec)), obj); diff != "" {
				t.Errorf("the resource was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestValuesWithoutSpec(t *testing.T) {
	got, err := Values(map[string]any{"kind": "Sample"}, watches.Watch{}, Given{})
	if err != nil || got == nil || len(got) != 0 {
		t.Errorf("got %v and the error %v, want empty values", got, err)
	}
}

func TestValuesRefuseOtherSpecs(t *testing.T) {
	for _, spec := range []string{`"text"`, `[1]`, `5`, `true`} {
		got, err := Values(object(t, sample(spec)), watches.Watch{}, Given{})
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Reason != ReasonInvalidSpec || refusal.Path != "spec" || got != nil {
			t.Errorf("spec %s gives %v and the error %v", spec, got, err)
		}
	}
}
