package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeManifests(t *testing.T) {
	const named = "kind: A\nmetadata:\n  name: a\n"
	tests := map[string]struct {
		reason string
		data   string
		want   []string
		err    bool
	}{
		"Documents": {reason: "a file may hold several", data: named + "---\nkind: B\nmetadata: {name: b}\n", want: []string{"A/a", "B/b"}},
		"Comments":  {reason: "a document may be empty", data: "# nothing\n---\n---\n" + named, want: []string{"A/a"}},
		"Kustomize": {reason: "belongs to kustomize, not to the cluster", data: "kind: Kustomization\nresources: [x]\n"},
		"NoKind":    {reason: "cannot be applied", data: "metadata: {name: a}\n", err: true},
		"NoName":    {reason: "cannot be applied", data: "kind: A\n", err: true},
		"NoYAML":    {reason: "a tab is not allowed", data: "kind:\n\tA", err: true},
		"NoObject":  {reason: "a list is no object", data: "- a\n", err: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := decodeManifests([]byte(test.data))
			if (err != nil) != test.err {
				t.Fatalf("got %v: %s", err, test.reason)
			}
			var got []string
			for _, obj := range objects {
				got = append(got, describe(obj))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func FuzzDecodeManifests(f *testing.F) {
	f.Add([]byte("kind: A\nmetadata:\n  name: a\n"))
	f.Add([]byte("---\n---\n# x\n"))
	f.Add([]byte("{\"kind\": 1}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, err := decodeManifests(data)
		for _, obj := range objects {
			if obj.GetKind() == "" || obj.GetName() == "" {
				t.Errorf("%q gave an object without a name, and %v", data, err)
			}
		}
	})
}

func TestShippedSamplesHaveAllThatTheStepsNeed(t *testing.T) {
	samples, err := readSamples("../../deploy/samples", "ns")
	if err != nil {
		t.Fatal(err)
	}
	d := &demo{samples: samples}
	for _, kind := range []string{"Sample", "Microservice", "PostgresCluster", "Deployment"} {
		s, err := d.sample(kind)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.GetNamespace() != "ns" || !ours(s.Unstructured) {
			t.Errorf("%s is in namespace %q, labels %v", s.id(), s.GetNamespace(), s.GetLabels())
		}
	}
	if _, err := d.sample("Nonsense"); err == nil {
		t.Error("there is a sample of a kind that does not exist")
	}
}
