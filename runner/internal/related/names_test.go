package related

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// template reads a template.
func template(t *testing.T, text string) watches.Template {
	t.Helper()
	read, err := watches.ParseTemplate(text)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func resource(namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "web", "namespace": namespace},
		"spec": map[string]any{
			"name": "db", "theirs": "kube-system", "own": "shop", "path": "../../x", "long": strings.Repeat("x", 300), "list": []any{"a"}, "words": "a b",
		},
	}}
}

// A resource's author must not reach with the operator's rights what is out of reach for himself.
func TestReferencesStayInTheirNamespace(t *testing.T) {
	cases := []struct {
		reason, own, name, namespace string
		want                         target
		refused                      string
	}{
		{"the resource's namespace by default", "shop", "{{ .spec.name }}", "", target{gvk: secretKind, namespace: "shop", name: "db"}, ""},
		{"a namespace of the watches file", "shop", "{{ .spec.name }}", "infra", target{gvk: secretKind, namespace: "infra", name: "db"}, ""},
		{"the resource may name its own", "shop", "{{ .spec.name }}", "{{ .spec.own }}", target{gvk: secretKind, namespace: "shop", name: "db"}, ""},
		{"and no other", "shop", "{{ .spec.name }}", "{{ .spec.theirs }}", target{}, ReasonCrossNamespace},
		{"not even in part", "kube", "{{ .spec.name }}", "{{ .metadata.namespace }}-system", target{}, ReasonCrossNamespace},
		{"nor may one that is in no namespace", "", "{{ .spec.name }}", "{{ .spec.theirs }}", target{}, ReasonCrossNamespace},
		{"a path is no name", "shop", "{{ .spec.path }}", "", target{}, ReasonInvalidReference},
		{"names are short", "shop", "{{ .spec.long }}", "", target{}, ReasonInvalidReference},
		{"a list is no name", "shop", "{{ .spec.list }}", "", target{}, ReasonInvalidReference},
		{"a field that is missing refers to nothing", "shop", "{{ .spec.missing }}", "", target{}, ""},
		{"also for the namespace", "shop", "{{ .spec.name }}", "{{ .spec.missing }}", target{}, ""},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			got, refusal := namer{resource(c.own)}.object(secretKind, template(t, c.name), template(t, c.namespace))
			reason := ""
			if refusal != nil {
				reason = refusal.Reason
			}
			if got != c.want || reason != c.refused {
				t.Errorf("got %+v, refused %q; want %+v, %q", got, reason, c.want, c.refused)
			}
		})
	}
}

// cluster answers reads from a map of names to data.
func cluster(objects map[string]map[string]string) func(context.Context, target) (found, error) {
	return func(_ context.Context, t target) (found, error) {
		data, there := objects[t.name]
		if !there {
			return found{absent: t.String() + " is missing"}, nil
		}
		obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": t.name, "managedFields": []any{"x"}}}}
		obj.SetGroupVersionKind(t.gvk)
		values := map[string]any{}
		for key, value := range data {
			if t.gvk == secretKind {
				value = base64.StdEncoding.EncodeToString([]byte(value))
			}
			values[key] = value
		}
		obj.Object["data"] = values
		return found{objects: []*unstructured.Unstructured{obj}}, nil
	}
}

func TestSourcesBecomeValues(t *testing.T) {
	objects := cluster(map[string]map[string]string{
		"db": {"password": "geheim!", "binary": "\xff\xfe", "values.yaml": "a: {b: 9007199254740993}", "broken": "a: [secret-text"},
	})
	source := func(name, key string, edit ...func(*watches.Source)) watches.Source {
		s := watches.Source{Secret: true, Name: template(t, name), Key: template(t, key), As: "v"}
		for _, f := range edit {
			f(&s)
		}
		return s
	}
	asDocument := func(s *watches.Source) { s.As = "" }
	optional := func(s *watches.Source) { s.Optional = true }
	cases := []struct {
		reason   string
		source   watches.Source
		deleting bool
		want     input.Value
		missing  string
		refused  string
		learned  string
	}{
		{reason: "one key, decoded", source: source("db", "password"), want: input.Value{Name: "v", Data: "geheim!", There: true}, learned: "geheim!"},
		{reason: "all keys that are text", source: source("db", ""), want: input.Value{Name: "v", There: true, Data: map[string]any{
			"password": "geheim!", "values.yaml": "a: {b: 9007199254740993}", "broken": "a: [secret-text"}}, learned: "geheim!"},
		{reason: "a document keeps its digits", source: source("db", "values.yaml", asDocument), want: input.Value{
			Data: map[string]any{"a": map[string]any{"b": int64(9007199254740993)}}, There: true}, learned: "a: {b"},
		{reason: "what is no document is not quoted", source: source("db", "broken", asDocument), refused: "InvalidReference"},
		{reason: "a key that is no text", source: source("db", "binary"), refused: "InvalidReference"},
		{reason: "a key that is missing", source: source("db", "other"), want: input.Value{Name: "v"}, missing: "key other of Secret db is missing"},
		{reason: "may be", source: source("db", "other", optional), want: input.Value{Name: "v"}},
		{reason: "an object that is missing", source: source("none", "a"), want: input.Value{Name: "v"}, missing: "Secret none in namespace shop is missing"},
		{reason: "may be", source: source("none", "a", optional), want: input.Value{Name: "v"}},
		{reason: "nothing is referred to", source: source("{{ .spec.missing }}", "a"), want: input.Value{Name: "v"}},
		{reason: "UP G4: nothing is needed for cleaning up", source: source("none", "a"), deleting: true, want: input.Value{Name: "v"}},
		{reason: "nor refused", source: source("{{ .spec.path }}", "a"), deleting: true, want: input.Value{Name: "v"}},
	}
	for i, c := range cases {
		t.Run(fmt.Sprint(i, " ", c.reason), func(t *testing.T) {
			learned := ""
			run := &resolution{
				watch: watches.Watch{VarsFrom: []watches.Source{c.source}}, read: objects, namer: namer{resource("shop")}, deleting: c.deleting,
				learn: func(values ...[]byte) {
					for _, value := range values {
						learned += string(value) + "\n"
					}
				},
				seen: map[target]found{}, out: Resolved{Given: input.Given{Objects: map[string]any{}}},
			}
			err := run.all(t.Context())
			var refusal *input.Refusal
			if errors.As(err, &refusal); (refusal == nil) != (c.refused == "") || refusal != nil && refusal.Reason != c.refused {
				t.Fatalf("the error is %v, want %q", err, c.refused)
			}
			if refusal != nil {
				if strings.Contains(refusal.Error(), "secret-text") {
					t.Errorf("the refusal has the secret: %v", refusal)
				}
				return
			}
			if diff := cmp.Diff([]input.Value{c.want}, run.out.Given.Values); diff != "" || run.out.Missing != c.missing {
				t.Errorf("missing %q, values (-want +got):\n%s", run.out.Missing, diff)
			}
			if !strings.Contains(learned, c.learned) {
				t.Errorf("the redactor learned %q", learned)
			}
		})
	}
}

// Objects are handed over without bookkeeping, read once, and Secrets among them are learned whole.
func TestRelatedObjectIsReadOnce(t *testing.T) {
	reads, learned := 0, ""
	objects := cluster(map[string]map[string]string{"db": {"password": "geheim!"}})
	run := &resolution{
		watch: watches.Watch{
			Related:       []watches.Related{{APIVersion: "v1", Kind: "Secret", Name: template(t, "db"), As: "db"}},
			VarsFrom:      []watches.Source{{Secret: true, Name: template(t, "db"), Key: template(t, "password"), As: "v"}},
			VaultPassword: &watches.SecretKey{Name: template(t, "db"), Key: template(t, "password")},
		},
		read:  func(ctx context.Context, t target) (found, error) { reads++; return objects(ctx, t) },
		namer: namer{resource("shop")}, learn: func(values ...[]byte) { learned += string(values[0]) },
		seen: map[target]found{}, out: Resolved{Given: input.Given{Objects: map[string]any{}}},
	}
	if err := run.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, _ := run.out.Given.Objects["db"].(map[string]any)
	if _, noise := db["metadata"].(map[string]any)["managedFields"]; noise || db["data"] == nil {
		t.Errorf("the run gets %v", db)
	}
	if reads != 1 || string(run.out.VaultPassword) != "geheim!" || !strings.Contains(learned, "geheim!") {
		t.Errorf("%d reads, vault password %q, learned %q", reads, run.out.VaultPassword, learned)
	}
}

// The links of an owner that reads through a stream which lags behind are not woken by the past.
func TestStreamThatLagsBehindWakesNobody(t *testing.T) {
	object := func(version, data string) record { return record{version: version, data: digestOf(data)} }
	cases := []struct {
		reason   string
		seen     map[string]record
		list     string
		records  map[string]record
		stream   string
		own      []engine.Write
		want     bool
		selector string
	}{
		{reason: "the same", seen: map[string]record{"x": object("5", "a")}, records: map[string]record{"x": object("5", "a")}, stream: "5"},
		{reason: "older", seen: map[string]record{"x": object("5", "b")}, records: map[string]record{"x": object("4", "a")}, stream: "4"},
		{reason: "newer and the same", seen: map[string]record{"x": object("5", "a")}, records: map[string]record{"x": object("6", "a")}, stream: "6"},
		{reason: "newer and another", seen: map[string]record{"x": object("5", "a")}, records: map[string]record{"x": object("6", "b")}, stream: "6", want: true},
		{reason: "not there yet", seen: map[string]record{"x": object("5", "a")}, records: nil, stream: "4"},
		{reason: "gone", seen: map[string]record{"x": object("5", "a")}, records: nil, stream: "6", want: true},
		{reason: "new", seen: map[string]record{}, records: map[string]record{"x": object("6", "a")}, stream: "6", want: true},
		{reason: "deleted before the list", selector: "a=b", seen: map[string]record{}, list: "7", records: map[string]record{"x": object("6", "a")}, stream: "6"},
		{reason: "chosen after the list", selector: "a=b", seen: map[string]record{}, list: "7", records: map[string]record{"x": object("8", "a")}, stream: "8", want: true},
		{reason: "the run's own", seen: map[string]record{"x": object("5", "a")}, records: map[string]record{"x": object("6", "b")}, stream: "6",
			own: []engine.Write{{GVK: secretKind, Namespace: "shop", Name: "x", ResourceVersion: "6"}}},
		{reason: "the run's own deletion", seen: map[string]record{"x": object("5", "a")}, records: nil, stream: "6",
			own: []engine.Write{{GVK: secretKind, Namespace: "shop", Name: "x", ResourceVersion: "6", Deleted: true}}},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			l := &link{target: target{gvk: secretKind, namespace: "shop", name: "x"}, seen: c.seen, version: c.list}
			if c.selector != "" {
				l.name, l.selector = "", c.selector
			}
			l.stream = &stream{records: c.records, version: c.stream, synced: true}
			l.wrote(c.own)
			if got := l.changed(); got != c.want {
				t.Errorf("changed is %v", got)
			}
			if l.changed() {
				t.Error("the same state is news again")
			}
		})
	}
}
