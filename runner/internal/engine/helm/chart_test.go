package helm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
)

func TestScan(t *testing.T) {
	tests := []struct {
		why, template string
		want          uses
	}{
		{"a chart that asks for nothing", "a: {{ .Values.a }}", uses{}},
		{"the version", "{{ .Capabilities.KubeVersion.Version }}", uses{kubeVersion: true}},
		{"kinds by name, each once", `{{ if or (.Capabilities.APIVersions.Has "b/v1") ($.Capabilities.APIVersions.Has "a/v1/K") (.Capabilities.APIVersions.Has "b/v1") }}`,
			uses{kinds: []string{"a/v1/K", "b/v1"}}},
		{"a kind that is not known from the text", `{{ .Capabilities.APIVersions.Has .Values.kind }}`, uses{kubeVersion: true, allKinds: true}},
		{"capabilities handed on", `{{ $c := .Capabilities }}`, uses{kubeVersion: true, allKinds: true}},
		{"Helm's own version is the same in all runs", `{{ .Capabilities.HelmVersion.Version }}`, uses{}},
		{"objects in the cluster", `{{ lookup "v1" "Secret" "" "" }}`, uses{lookup: true}},
		{"values that are templates", `{{ tpl .Values.a . }}`, uses{values: true}},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			sub := &chart.Chart{Metadata: &chart.Metadata{Name: "sub"}, Templates: []*chart.File{{Data: []byte(test.template)}}}
			root := &chart.Chart{Metadata: &chart.Metadata{Name: "root"}}
			root.AddDependency(sub)
			if diff := cmp.Diff(test.want, scan(root), cmp.AllowUnexported(uses{})); diff != "" {
				t.Errorf("uses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDigestParts(t *testing.T) {
	caps := func(version string, kinds ...string) *chartutil.Capabilities {
		return &chartutil.Capabilities{KubeVersion: chartutil.KubeVersion{Version: version}, APIVersions: kinds}
	}
	plain := &content{digest: "c1"}
	asks := &content{digest: "c1", uses: uses{kinds: []string{"a/v1"}}}
	all := &content{digest: "c1", uses: uses{allKinds: true, kubeVersion: true}}
	tpl := &content{digest: "c1", uses: uses{values: true}}
	tests := []struct {
		why      string
		a, b     digest
		same     bool
		capsOnly bool
	}{
		{"the cluster is nothing to a chart that does not ask", inputsDigest(plain, nil, caps("1")), inputsDigest(plain, nil, caps("2", "a/v1")), true, false},
		{"only the kinds that are asked for count", inputsDigest(asks, nil, caps("1", "a/v1")), inputsDigest(asks, nil, caps("2", "b/v1", "a/v1")), true, false},
		{"a kind that is asked for appears", inputsDigest(asks, nil, caps("1")), inputsDigest(asks, nil, caps("1", "a/v1")), false, true},
		{"the order of kinds does not matter", inputsDigest(all, nil, caps("1", "a", "b")), inputsDigest(all, nil, caps("1", "b", "a")), true, false},
		{"any kind matters where any may be asked for", inputsDigest(all, nil, caps("1", "a")), inputsDigest(all, nil, caps("1", "a", "b")), false, true},
		{"values that are templates may ask", inputsDigest(tpl, []byte(".Capabilities"), caps("1")), inputsDigest(tpl, []byte(".Capabilities"), caps("2")), false, true},
		{"other values", inputsDigest(plain, []byte("a"), nil), inputsDigest(plain, []byte("b"), nil), false, false},
		{"another chart", inputsDigest(plain, nil, nil), inputsDigest(&content{digest: "c2"}, nil, nil), false, false},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			if got := test.a == test.b; got != test.same {
				t.Errorf("the same: %v, want %v", got, test.same)
			}
			if got := test.a.onlyCapabilities(test.b); got != test.capsOnly {
				t.Errorf("differ in capabilities only: %v, want %v", got, test.capsOnly)
			}
		})
	}
}

func TestCanonicalValues(t *testing.T) {
	a, err := canonical(map[string]any{"a": int64(1), "b": map[string]any{"y": 1.0, "x": nil}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := canonical(map[string]any{"b": map[string]any{"x": nil, "y": int64(1)}, "a": 1.0})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(a), string(b)); diff != "" {
		t.Errorf("equal values differ:\n%s", diff)
	}
	none, _ := canonical(nil)
	empty, _ := canonical(map[string]any{})
	if string(none) != string(empty) {
		t.Errorf("no spec is %s, an empty one %s", none, empty)
	}
}

func TestCloneSharesNothingThatHelmChanges(t *testing.T) {
	load := func() *chart.Chart {
		c, err := loader.Load(chartDir("umbrella"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	original, pristine := load(), load()
	values := map[string]any{"one": map[string]any{"enabled": false}, "two": map[string]any{"enabled": true}}
	clone := cloneChart(original)
	if err := chartutil.ProcessDependenciesWithMerge(clone, values); err != nil {
		t.Fatal(err)
	}
	clone.Values["one"].(map[string]any)["enabled"] = "changed"
	clone.Templates = nil
	compare := cmp.Options{cmpopts.IgnoreUnexported(chart.Chart{}), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(pristine, original, compare); diff != "" {
		t.Errorf("the original was changed:\n%s", diff)
	}
	if diff := cmp.Diff(pristine.Dependencies(), original.Dependencies(), compare); diff != "" {
		t.Errorf("the original's dependencies were changed:\n%s", diff)
	}
	if len(clone.Dependencies()) != 1 || clone.Dependencies()[0].Name() != "two" {
		t.Errorf("the clone was not processed")
	}
}

func TestFingerprint(t *testing.T) {
	dir := t.TempDir()
	target := t.TempDir()
	writeFile(t, dir+"/Chart.yaml", "a")
	writeFile(t, target+"/values.yaml", "b")
	if err := os.Symlink(filepath.Join(target, "values.yaml"), filepath.Join(dir, "values.yaml")); err != nil {
		t.Fatal(err)
	}
	get := func() string {
		t.Helper()
		f, err := fingerprint(dir)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := get()
	if get() != first {
		t.Error("the fingerprint of unchanged files changes")
	}
	writeFile(t, target+"/values.yaml", "longer")
	second := get()
	if second == first {
		t.Error("a change behind a symbolic link is not seen")
	}
	writeFile(t, dir+"/templates/x.yaml", "")
	if get() == second {
		t.Error("a new file is not seen")
	}
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if _, err := fingerprint(dir); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("a loop of symbolic links gives %v", err)
	}
}
