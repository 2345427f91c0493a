package drift

import (
	"encoding/json"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/google/go-cmp/cmp"
)

func parse(tb testing.TB, text string) *unstructured.Unstructured {
	tb.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		tb.Fatalf("parse %q: %v", text, err)
	}
	obj := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, &obj.Object); err != nil {
		tb.Fatalf("parse %q: %v", text, err)
	}
	if obj.GetKind() != "" {
		if err := obj.UnmarshalJSON(data); err != nil {
			tb.Fatalf("parse %q: %v", text, err)
		}
	}
	return obj
}

const (
	configMap  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n"
	service    = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
	secret     = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
	policy     = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: n}\n"
	widget     = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"
)

func TestDiff(t *testing.T) {
	tests := []struct {
		why        string
		want, live string
		patch      string // empty for none
	}{
		{"equal objects need nothing",
			configMap + "data: {a: x}", configMap + "data: {a: x}", ""},
		{"an edited value is put back, and nothing else is sent",
			configMap + "data: {a: x, b: y}", configMap + "data: {a: z, b: y}", `{"data":{"a":"x"}}`},
		{"a deleted value is put back",
			configMap + "data: {a: x}", configMap, `{"data":{"a":"x"}}`},
		{"what others added survives: keys, labels, annotations",
			configMap + "data: {a: x}",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, labels: {l: l}, annotations: {n: n}}\ndata: {a: x, foreign: f}", ""},
		{"an empty value in a map of strings is a value",
			configMap + `data: {a: ""}`, configMap + "data: {}", `{"data":{"a":""}}`},
		{"a null in a manifest asks for nothing",
			configMap + "data: null", configMap + "data: {a: x}", ""},
		{"identity and status are not ours to ask for",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, uid: u, resourceVersion: '5', creationTimestamp: null}\nstatus: {x: y}",
			configMap, ""},
		{"a lost owner is put back beside the others",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, ownerReferences: [{apiVersion: v1, kind: K, name: o, uid: u1, controller: true}]}",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, ownerReferences: [{apiVersion: v1, kind: K, name: p, uid: u2}]}",
			`{"metadata":{"$setElementOrder/ownerReferences":[{"uid":"u1"}],"ownerReferences":[{"apiVersion":"v1","controller":true,"kind":"K","name":"o","uid":"u1"}]}}`},
		{"an owner of a custom resource is put back beside the others, although its lists have no merge key",
			"apiVersion: e/v1\nkind: W\nmetadata: {name: c, ownerReferences: [{kind: K, name: o, uid: u1}]}",
			"apiVersion: e/v1\nkind: W\nmetadata: {name: c, ownerReferences: [{kind: K, name: p, uid: u2}]}",
			`{"metadata":{"ownerReferences":[{"kind":"K","name":"p","uid":"u2"},{"kind":"K","name":"o","uid":"u1"}]}}`},

		{"quantities are compared as the API server writes them",
			deployment + "spec: {template: {spec: {containers: [{name: a, resources: {limits: {cpu: 1000m, memory: 1024Mi}}}]}}}",
			deployment + `spec: {template: {spec: {containers: [{name: a, resources: {limits: {cpu: "1", memory: 1Gi}}}]}}}`, ""},
		{"a scaled Deployment is scaled back",
			deployment + "spec: {replicas: 2}", deployment + "spec: {replicas: 5, paused: true}", `{"spec":{"replicas":2}}`},
		{"an explicit false is asked for",
			deployment + "spec: {paused: false}", deployment + "spec: {paused: true}", `{"spec":{"paused":false}}`},
		{"an explicit false is the same as a field that the API server leaves out",
			deployment + "spec: {paused: false}", deployment + "spec: {replicas: 1}", ""},
		{"a sidecar and its volume survive",
			deployment + "spec: {template: {spec: {containers: [{name: a, image: i}]}}}",
			deployment + "spec: {template: {spec: {containers: [{name: a, image: i}, {name: side, image: s}], volumes: [{name: v}]}}}", ""},
		{"a container is found by name, wherever it stands",
			deployment + "spec: {template: {spec: {containers: [{name: a, image: i}]}}}",
			deployment + "spec: {template: {spec: {containers: [{name: side, image: s}, {name: a, image: edited}]}}}",
			`{"spec":{"template":{"spec":{"containers":[{"image":"i","name":"a"}]}}}}`},
		{"a container that is gone comes back at its place",
			deployment + "spec: {template: {spec: {containers: [{name: a, image: i}, {name: b, image: i}]}}}",
			deployment + "spec: {template: {spec: {containers: [{name: b, image: i}]}}}",
			`{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"image":"i","name":"a"}]}}}}`},
		{"another strategy takes the fields of the old one away",
			deployment + "spec: {strategy: {type: Recreate}}",
			deployment + "spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}",
			`{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`},
		{"a field that the type does not know is not sent for ever",
			deployment + "spec: {replicsa: 2}", deployment + "spec: {replicas: 1}", ""},
		{"ports of one number and two protocols cannot be told apart by number, and are there",
			service + "spec: {ports: [{port: 53, protocol: TCP, name: t}, {port: 53, protocol: UDP, name: u}]}",
			service + "spec: {ports: [{port: 53, protocol: TCP, name: t, targetPort: 53}, {port: 53, protocol: UDP, name: u, targetPort: 53}]}", ""},
		{"ports of one number and two protocols are replaced as a whole",
			service + "spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]}",
			service + "spec: {ports: [{port: 53, protocol: TCP}]}",
			`{"spec":{"ports":[{"$patch":"replace"},{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}}`},
		{"defaults in the items of a list without merge key are no drift",
			policy + "spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}]}",
			policy + "spec: {podSelector: {}, ingress: [{ports: [{port: 80, protocol: TCP}]}], policyTypes: [Ingress]}", ""},
		{"a list without merge key is replaced when an item differs",
			policy + "spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}]}",
			policy + "spec: {podSelector: {}, ingress: [{ports: [{port: 81, protocol: TCP}]}]}",
			`{"spec":{"ingress":[{"ports":[{"port":80}]}]}}`},

		{"stringData is compared with data, where the API server puts it",
			secret + "stringData: {a: hello}", secret + "data: {a: aGVsbG8=}", ""},
		{"stringData wins over data of the same key, as in the API server",
			secret + "data: {a: eA==}\nstringData: {a: hello}", secret + "data: {a: eA==}", `{"data":{"a":"aGVsbG8="}}`},

		{"a custom resource: fields that others added survive",
			widget + "spec: {a: 1}", widget + "spec: {a: 1, b: 2}\nstatus: {x: y}", ""},
		{"a custom resource: one field is put back",
			widget + "spec: {a: 1, deep: {b: x}}", widget + "spec: {a: 2, deep: {b: x, c: y}}", `{"spec":{"a":1}}`},
		{"a custom resource: numbers are numbers, however they are written",
			widget + "spec: {a: 1.0}", widget + "spec: {a: 1}", ""},
		{"a custom resource: an extra item with a name survives",
			widget + "spec: {items: [{name: a, x: 1}]}", widget + "spec: {items: [{name: f}, {name: a, x: 1, dflt: z}]}", ""},
		{"a custom resource: items are found by name, and those of others are kept",
			widget + "spec: {items: [{name: a, x: 1}]}", widget + "spec: {items: [{name: f}, {name: a, x: 2, dflt: z}]}",
			`{"spec":{"items":[{"name":"f"},{"dflt":"z","name":"a","x":1}]}}`},
		{"a custom resource: defaults in items without a name are no drift",
			widget + "spec: {items: [{x: 1}, {x: 2}]}", widget + "spec: {items: [{x: 1, d: 0}, {x: 2, d: 0}]}", ""},
		{"a custom resource: a list of scalars is one value",
			widget + "spec: {args: [a, b]}", widget + "spec: {args: [b, a]}", `{"spec":{"args":["a","b"]}}`},
		{"a custom resource: empty is the same as absent",
			widget + "spec: {args: [], sel: {}}", widget + "spec: {}", ""},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			want, live := parse(t, test.want), parse(t, test.live)
			patch, differs, err := New(want).Diff(live)
			if err != nil {
				t.Fatal(err)
			}
			if differs != (test.patch != "") {
				t.Fatalf("differs = %v, want %v; patch %s", differs, test.patch != "", patch.Data)
			}
			if diff := cmp.Diff(test.patch, string(patch.Data)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(parse(t, test.live).Object, live.Object); diff != "" {
				t.Errorf("the live object was changed (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(parse(t, test.want).Object, want.Object); diff != "" {
				t.Errorf("the wanted object was changed (-before +after):\n%s", diff)
			}
			if differs {
				settled(t, want, apply(t, patch, live))
			}
		})
	}
}

// apply does what the API server does with a patch.
func apply(tb testing.TB, patch Patch, live *unstructured.Unstructured) *unstructured.Unstructured {
	tb.Helper()
	before, err := json.Marshal(live.Object)
	if err != nil {
		tb.Fatal(err)
	}
	var after []byte
	if patch.Type == types.StrategicMergePatchType {
		typed, err := known.New(live.GroupVersionKind())
		if err != nil {
			tb.Fatal(err)
		}
		after, err = strategicpatch.StrategicMergePatch(before, patch.Data, typed)
		if err != nil {
			tb.Fatalf("apply %s: %v", patch.Data, err)
		}
	} else if after, err = jsonpatch.MergePatch(before, patch.Data); err != nil {
		tb.Fatalf("apply %s: %v", patch.Data, err)
	}
	out := &unstructured.Unstructured{}
	if err := out.UnmarshalJSON(after); err != nil {
		tb.Fatal(err)
	}
	return out
}

func settled(tb testing.TB, want, live *unstructured.Unstructured) {
	tb.Helper()
	again, differs, err := New(want).Diff(live)
	if err != nil {
		tb.Fatal(err)
	}
	if differs {
		tb.Errorf("after the patch the object still differs by %s:\n%v", again.Data, live.Object)
	}
}

func TestSignatureTellsStatesApart(t *testing.T) {
	want := New(parse(t, configMap+"data: {a: x}"))
	sign := func(live string) string {
		patch, _, err := want.Diff(parse(t, live))
		if err != nil {
			t.Fatal(err)
		}
		return patch.Signature
	}
	first := sign(configMap + "data: {a: y, other: 1}")
	if again := sign(configMap + "data: {a: y, other: 2}"); again != first {
		t.Errorf("a change elsewhere in the object gives another signature")
	}
	if edited := sign(configMap + "data: {a: z}"); edited == first {
		t.Errorf("the same patch to another live value has the same signature")
	}
}

// FuzzDiff checks that one patch is always enough: an object never fights with its own manifest.
func FuzzDiff(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"spec":{"a":1}}`, `{"spec":{"a":2}}`},
		{`{"spec":{"l":[{"name":"a","x":[1]}]}}`, `{"spec":{"l":[{"name":"b"},{"name":"a","x":[2]}]}}`},
		{`{"spec":{"l":[{"a":null},[],{}]}}`, `{"spec":{"l":[]}}`},
		{`{"metadata":{"ownerReferences":[{"uid":"1"}]}}`, `{"metadata":{"ownerReferences":[{"uid":"2"}]}}`},
		{`{"spec":{"a":{"b":null}}}`, `{"spec":{"a":"x"}}`},
		{`{"spec":{"l":[{"name":1.5}]}}`, `{"spec":{"l":[{"name":"1.5"}]}}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, wantText, liveText string) {
		want, live := object(wantText), object(liveText)
		if want == nil || live == nil {
			t.Skip("not two objects")
		}
		patch, differs, err := New(want).Diff(live)
		if err != nil {
			t.Fatal(err)
		}
		if differs {
			settled(t, want, apply(t, patch, live))
		}
	})
}

// object returns a custom resource with the given fields, or nil.
func object(text string) *unstructured.Unstructured {
	var fields map[string]any
	if json.Unmarshal([]byte(text), &fields) != nil || fields == nil {
		return nil
	}
	fields["apiVersion"], fields["kind"] = "example.com/v1", "Widget"
	data, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	obj := &unstructured.Unstructured{}
	if obj.UnmarshalJSON(data) != nil {
		return nil
	}
	return obj
}
