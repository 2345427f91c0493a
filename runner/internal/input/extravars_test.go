package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

var update = flag.Bool("update", false, "write the golden files anew")

// object reads a resource from JSON as the API client does.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return u.Object
}

// sampleWatch is a watch of Sample.v1.demo.example.com with the defaults.
func sampleWatch() watches.Watch {
	return watches.Watch{
		GVK:                 schema.GroupVersionKind{Group: "demo.example.com", Version: "v1", Kind: "Sample"},
		SnakeCaseParameters: true,
	}
}

func sample(spec string) string {
	return `{"apiVersion":"demo.example.com/v1","kind":"Sample","metadata":{"name":"one","namespace":"here","uid":"u-1"},"spec":` + spec + `}`
}

var someRun = Run{
	ID: "r-1", Trigger: engine.TriggerSpec, Reason: "the spec changed", ChangedPaths: []string{"spec.size"}, Generation: 3, Attempt: 1,
}

func TestExtraVarsGolden(t *testing.T) {
	const rich = `{"dataDir":"/var","nested":{"podIP":"10.0.0.1","list":[{"nodePort":1},"{{ x }}",null,true,[]]},"big":9007199254740993,"ratio":1.5,"none":null}`
	cases := []struct {
		name, reason string
		object       string
		watch        func(*watches.Watch)
		run          Run
	}{
		{name: "plain", reason: "keys are turned to snake_case at every depth, the resource itself is left as it is", object: sample(rich), run: someRun},
		{
			name: "camel", reason: "without snake_case keys stay at every depth", object: sample(rich), run: someRun,
			watch: func(w *watches.Watch) { w.SnakeCaseParameters = false },
		},
		{
			name: "unsafe", reason: "every string of the resource is marked, keys and numbers are not", object: sample(rich), run: someRun,
			watch: func(w *watches.Watch) { w.MarkUnsafe = true },
		},
		{
			name: "secret", reason: "the core group leaves a double underscore, and without a spec there is an empty one",
			object: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"here"},"data":{"tls.crt":"Zm9v"}}`, run: someRun,
			watch: func(w *watches.Watch) { w.GVK = schema.GroupVersionKind{Version: "v1", Kind: "Secret"} },
		},
		{
			name: "hyphen", reason: "hyphens and dots of the group become underscores and its case stays; a cluster-scoped resource has no namespace",
			object: `{"apiVersion":"operator-with-dash.Example.com/v1","kind":"ExampleKind","metadata":{"name":"x"},"spec":{}}`, run: someRun,
			watch: func(w *watches.Watch) {
				w.GVK = schema.GroupVersionKind{Group: "operator-with-dash.Example.com", Version: "v1", Kind: "ExampleKind"}
			},
		},
		{
			name: "vars", reason: "the watch's variables win over the spec and over what the operator sets, and are never marked", object: sample(`{"size":1,"color":"red"}`), run: someRun,
			watch: func(w *watches.Watch) {
				w.MarkUnsafe = true
				w.Vars = map[string]any{"size": int64(2), "meta": "{{ ansible_operator_meta }}", "huge": json.Number("18446744073709551616"), "ansible_operator_meta": "mine"}
				w.Finalizer = &watches.Finalizer{Vars: map[string]any{"size": int64(3), "state": "absent"}}
			},
		},
		{
			name: "deletion", reason: "the finalizer's variables win when the resource is being deleted", object: sample(`{"size":1}`),
			run: Run{ID: "r-2", Trigger: engine.TriggerDeletion, Generation: 4, Attempt: 2, Deleting: true, CheckMode: true},
			watch: func(w *watches.Watch) {
				w.Vars = map[string]any{"size": int64(2), "state": "present"}
				w.Finalizer = &watches.Finalizer{Vars: map[string]any{"state": "absent"}}
			},
		},
		{
			name: "allowed", reason: "a watch may let the spec set Ansible's variables; what the operator sets still wins",
			object: sample(`{"ansiblePort":22,"chartbook_run":"x","ansible_operator_meta":"x","_demo_example_com_sample":"x"}`), run: someRun,
			watch: func(w *watches.Watch) { w.AllowReservedVariables = true },
		},
		{
			name: "any-name", reason: "a name that could be Jinja is marked although names never are",
			object: `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"{{ 7*7 }}","namespace":"here"}}`, run: someRun,
			watch: func(w *watches.Watch) { w.MarkUnsafe = true },
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := sampleWatch()
			if c.watch != nil {
				c.watch(&w)
			}
			obj := object(t, c.object)
			got, err := ExtraVars(obj, w, c.run)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(object(t, c.object), obj); diff != "" {
				t.Errorf("the resource was changed (-before +after):\n%s", diff)
			}
			checkGolden(t, filepath.Join("testdata/extravars", c.name+".golden"), map[string]any{"": c.reason, "vars": got})
		})
	}
}

// checkGolden compares a value, as JSON, with a golden file.
func checkGolden(t *testing.T, path string, value any) {
	t.Helper()
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s differs from what is made now (-want +got); run with -update if that is right:\n%s", path, diff)
	}
}

// Covers AO 10.5 no. 2, UP H4.
func TestRefusals(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)
	cases := []struct {
		why                   string
		spec                  string
		watch                 func(*watches.Watch)
		reason, path, message string
	}{
		{
			why: "two keys become one variable, and chance decided which", spec: `{"dataDir":1,"data_dir":2}`,
			reason: ReasonVariableClash, path: "spec", message: "dataDir and data_dir both become data_dir; rename one",
		},
		{
			why: "also in a list further down", spec: `{"disks":[{},{"b":{"sizeGB":1,"size_gb":2,"size-GB":3}}]}`,
			reason: ReasonVariableClash, path: "spec.disks[1].b", message: "size-GB and sizeGB both become size_gb; rename one",
		},
		{why: "an empty key is no variable", spec: `{"":1}`, reason: ReasonEmptyKey, path: `spec.""`, message: "the key is empty"},
		{why: "nor is one of spaces", spec: `{"a":{"  ":1}}`, reason: ReasonEmptyKey, path: `spec.a."  "`, message: "the key is empty"},
		{
			why: "nor is it without snake_case", spec: `{"":1," ":2}`, watch: func(w *watches.Watch) { w.SnakeCaseParameters = false },
			reason: ReasonEmptyKey, path: `spec.""`, message: "the key is empty",
		},
		{
			why: "a spec must not say how the host is reached", spec: `{"ansible_connection":"ssh"}`,
			reason: ReasonReservedVariable, path: "spec.ansible_connection", message: "the key would set the reserved variable ansible_connection",
		},
		{
			why: "whatever its spelling", spec: `{"z":1,"ansiblePythonInterpreter":"/bin/sh","ansible-user":"root"}`,
			reason: ReasonReservedVariable, path: "spec.ansible-user", message: "the key would set the reserved variable ansible_user",
		},
		{
			why: "nor what it is told about the run", spec: `{"chartbookRun":{}}`,
			reason: ReasonReservedVariable, path: "spec.chartbookRun", message: "the key would set the reserved variable chartbook_run",
		},
		{
			why: "nor what resource it is for", spec: `{"ansibleOperatorMeta":{}}`,
			reason: ReasonReservedVariable, path: "spec.ansibleOperatorMeta", message: "the key would set the reserved variable ansible_operator_meta",
		},
		{
			why: "a key that the resource itself would replace", spec: `{"_demo_example_com_sample_spec":{}}`,
			reason: ReasonReservedVariable, path: "spec._demo_example_com_sample_spec", message: "the key would set the reserved variable _demo_example_com_sample_spec",
		},
		{
			why: "a vault marker would be decrypted with the operator's password", spec: `{"a":[{"__ansible_vault":"$ANSIBLE_VAULT;1.1;AES256"}]}`,
			reason: ReasonReservedVariable, path: "spec.a[0].__ansible_vault", message: "keys that begin with __ansible_ mean something to Ansible and cannot be data",
		},
		{
			why: "a marker is no variable that a watch can allow", spec: `{"x":{"__ansible_unsafe":"a"}}`,
			watch:  func(w *watches.Watch) { w.AllowReservedVariables = true; w.SnakeCaseParameters = false },
			reason: ReasonReservedVariable, path: "spec.x.__ansible_unsafe", message: "keys that begin with __ansible_ mean something to Ansible and cannot be data",
		},
		{
			why: "a text would be taken for a mapping once it is marked", spec: `"text"`, watch: func(w *watches.Watch) { w.MarkUnsafe = true },
			reason: ReasonInvalidSpec, path: "spec", message: "the spec must be a mapping",
		},
		{
			why: "a list has no names for variables", spec: `[1]`,
			reason: ReasonInvalidSpec, path: "spec", message: "the spec must be a mapping",
		},
		{
			why: "Ansible cannot read what nests endlessly", spec: deep,
			reason: ReasonTooDeep, path: "", message: "lists and mappings nest more than 200 deep",
		},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			w := sampleWatch()
			if c.watch != nil {
				c.watch(&w)
			}
			for range 20 { // maps have no order, and the answer must have
				vars, err := ExtraVars(object(t, sample(c.spec)), w, someRun)
				var refusal *Refusal
				if !errors.As(err, &refusal) || vars != nil {
					t.Fatalf("got %v and the error %v", vars, err)
				}
				if c.path == "" {
					c.path = refusal.Path
				}
				if diff := cmp.Diff(&Refusal{Reason: c.reason, Path: c.path, Message: c.message}, refusal); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestRefusesMarkersOutsideTheSpec covers a watched Secret: its data reaches Ansible too.
func TestRefusesMarkersOutsideTheSpec(t *testing.T) {
	w := watches.Watch{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, SnakeCaseParameters: true}
	obj := object(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"__ansible_vault":"eA=="}}`)
	_, err := ExtraVars(obj, w, someRun)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Path != "data.__ansible_vault" {
		t.Errorf("got %v", err)
	}
}

func TestRefusalIsOneShortLine(t *testing.T) {
	key := strings.Repeat("x\n", 1000)
	obj := map[string]any{"spec": map[string]any{key: map[string]any{key: map[string]any{"a b": 1, "aB": 1, "a_b": 1}}}}
	_, err := ExtraVars(obj, sampleWatch(), someRun)
	if err == nil || strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 1024 {
		t.Errorf("got %v", err)
	}
}

// FuzzExtraVars checks what holds for any resource: no panic, an answer that JSON can carry, and the same one each time.
func FuzzExtraVars(f *testing.F) {
	for _, seed := range []string{
		sample(`{"fooBar":[{"HTTPServer":1}],"a":{"b":"{{ x }}"}}`), sample(`{"":1}`), sample(`{"a b":1,"a_b":2}`), sample(`[]`), `{}`,
		`{"spec":{"ansible_x":1}}`, `{"spec":{"x":{"__ansible_vault":"y"}}}`, `{"metadata":7,"spec":null}`, `{"spec":{"a":[[[[1e400]]]]}}`,
	} {
		f.Add([]byte(seed), true, true)
		f.Add([]byte(seed), false, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, snake, markUnsafe bool) {
		var obj map[string]any
		if json.Unmarshal(data, &obj) != nil {
			t.Skip("no JSON object")
		}
		w := sampleWatch()
		w.SnakeCaseParameters, w.MarkUnsafe = snake, markUnsafe
		vars, err := ExtraVars(obj, w, someRun)
		again, errAgain := ExtraVars(obj, w, someRun)
		if diff := cmp.Diff(vars, again); diff != "" {
			t.Errorf("the second answer differs (-first +second):\n%s", diff)
		}
		if err != nil {
			var refusal *Refusal
			if !errors.As(err, &refusal) || refusal.Path == "" || refusal.Message == "" || err.Error() != errAgain.Error() {
				t.Errorf("got %v and then %v", err, errAgain)
			}
			return
		}
		if _, err := json.Marshal(vars); err != nil {
			t.Error(err)
		}
		if _, err := Values(obj, w, Given{}); err != nil && obj["spec"] == nil {
			t.Error(err)
		}
	})
}
