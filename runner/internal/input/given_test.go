package input

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/watches"
)

var given = Given{
	Objects: map[string]any{"db": map[string]any{"data": map[string]any{"x": "{{ evil }}"}}, "gone": nil},
	Values: []Value{
		{Name: "password", Data: "{{ 1 + 1 }}", There: true},
		{Name: "absent"},
	},
}

var referring = watches.Watch{
	GVK:     schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "App"},
	Related: []watches.Related{{As: "db"}, {As: "gone"}}, VarsFrom: []watches.Source{{As: "password"}, {As: "absent"}},
	SnakeCaseParameters: true,
}

// Ansible must not evaluate what comes from Secrets, also where old files let it evaluate the resource: a password with
// braces is a password.
func TestGivenVariablesAreData(t *testing.T) {
	vars, err := ExtraVars(map[string]any{"spec": map[string]any{"size": int64(1)}}, referring, Run{Given: given})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"db":       map[string]any{"data": map[string]any{"x": map[string]any{"__ansible_unsafe": "{{ evil }}"}}},
		"gone":     nil,
		"password": map[string]any{"__ansible_unsafe": "{{ 1 + 1 }}"},
		"absent":   nil,
	}
	got := map[string]any{}
	for name := range want {
		value, there := vars[name]
		if !there {
			t.Errorf("%s is not defined", name)
		}
		got[name] = value
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

func TestSpecCannotSetWhatReferencesSet(t *testing.T) {
	chart := watches.Watch{Related: referring.Related}
	cases := map[string]func(spec map[string]any) error{
		"playbook": func(spec map[string]any) error {
			_, err := ExtraVars(map[string]any{"spec": spec}, referring, Run{Given: given})
			return err
		},
		"chart": func(spec map[string]any) error {
			_, err := Values(map[string]any{"spec": spec}, chart, given)
			return err
		},
	}
	for name, inputs := range cases {
		var refusal *Refusal
		if err := inputs(map[string]any{"db": "mine"}); !errors.As(err, &refusal) || refusal.Reason != ReasonVariableClash || refusal.Path != "spec.db" {
			t.Errorf("%s: the error is %v", name, err)
		}
		if err := inputs(map[string]any{"other": "mine"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A name of Ansible's JSON reader in an object must not make it decrypt something.
func TestMarkersInObjectsAreRefused(t *testing.T) {
	evil := Given{Objects: map[string]any{"db": map[string]any{"data": map[string]any{"__ansible_vault": "x"}}}}
	var refusal *Refusal
	_, err := ExtraVars(map[string]any{}, referring, Run{Given: evil})
	if !errors.As(err, &refusal) || refusal.Reason != ReasonReservedVariable || refusal.Path != "db.data.__ansible_vault" {
		t.Errorf("the error is %v", err)
	}
}

// UP K6: values from Secrets and ConfigMaps lie below the spec, and that below the watch's override values.
func TestValuesInOrder(t *testing.T) {
	from := Given{
		Objects: map[string]any{"db": map[string]any{"kind": "Secret"}},
		Values: []Value{
			{Data: map[string]any{"a": "document", "b": map[string]any{"c": "document", "d": int64(1)}}, There: true},
			{Path: []string{"b", "c"}, Data: "path", There: true},
			{Path: []string{"never"}},
		},
	}
	w := watches.Watch{Related: []watches.Related{{As: "db"}}, OverrideValues: []watches.OverrideValue{{Key: "b.e", Value: "override"}}}
	got, err := Values(map[string]any{"spec": map[string]any{"a": "spec", "b": map[string]any{"e": "spec", "f": "spec"}}}, w, from)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a": "spec", "db": map[string]any{"kind": "Secret"},
		"b": map[string]any{"c": "path", "d": int64(1), "e": "override", "f": "spec"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if from.Values[0].Data.(map[string]any)["a"] != "document" {
		t.Error("the values share something with what was given")
	}
}
