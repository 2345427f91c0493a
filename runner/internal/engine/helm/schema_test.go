package helm

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

func chartWithSchema(name, schema string) *chart.Chart {
	return &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: name, Version: "1"}, Schema: []byte(schema)}
}

// What does not fit is told as Helm tells it.
func TestSchemasAreCheckedAsHelmDoes(t *testing.T) {
	parent := chartWithSchema("parent", `{"type": "object", "required": ["a"], "properties": {"n": {"type": "integer", "minimum": 1}}}`)
	parent.AddDependency(chartWithSchema("child", `{"properties": {"mode": {"enum": ["x", "y"]}}}`))
	for why, values := range map[string]map[string]any{
		"all is well":            {"a": "b", "n": int64(3), "child": map[string]any{"mode": "x"}},
		"one field":              {"a": "b", "n": "many"},
		"several fields":         {"n": 0.5, "child": map[string]any{"mode": "z"}},
		"a whole float":          {"a": nil, "n": 2.0},
		"a child without values": {"a": "b", "child": nil},
	} {
		want := chartutil.ValidateAgainstSchema(parent, values)
		if diff := cmp.Diff(text1(want), text1(checkSchemas(parent, values))); diff != "" {
			t.Errorf("%s (-Helm +here):\n%s", why, diff)
		}
	}
}

// text1 is an error's text without blank lines.
func text1(err error) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n\n", "\n")
}

// Charts for Operator SDK's helm-operator have schemas that refer to files below its working directory.
func TestSchemaReferencesAreRelativeToTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir+"/helm-charts/web/schemas/main.json", `{"properties": {"size": {"$ref": "file://./helm-charts/web/schemas/size.json"}, "color": {"$ref": "color.json"}}}`)
	writeFile(t, dir+"/helm-charts/web/schemas/size.json", `{"type": "integer"}`)
	writeFile(t, dir+"/helm-charts/web/schemas/color.json", `{"type": "string"}`)
	writeFile(t, dir+"/absolute.json", `{"type": "boolean"}`)
	t.Chdir(dir)
	schema := `{"$ref": "file://./helm-charts/web/schemas/main.json", "properties": {"on": {"$ref": "file://` + filepath.Join(dir, "absolute.json") + `"}}}`
	c := chartWithSchema("web", schema)
	if err := checkValues(c, map[string]any{"size": int64(1), "color": "red", "on": true}); err != nil {
		t.Errorf("values that fit: %v", err)
	}
	err := checkValues(c, map[string]any{"size": "big", "color": int64(1), "on": "yes"})
	for _, field := range []string{"/size", "/color", "/on"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s is not named: %v", field, err)
		}
	}
	missing := checkValues(chartWithSchema("web", `{"$ref": "file://./nowhere.json"}`), map[string]any{})
	if !errors.As(missing, &schemaError{}) || !strings.Contains(missing.Error(), "nowhere.json") {
		t.Errorf("a file that is missing: %v", missing)
	}
}

func TestSchemaFromTheWeb(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/size.json" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if _, err := w.Write([]byte(`{"type": "integer"}`)); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	c := chartWithSchema("web", `{"properties": {"size": {"$ref": "`+server.URL+`/size.json"}}}`)
	if err := checkValues(c, map[string]any{"size": "big"}); err == nil || !strings.Contains(err.Error(), "/size") {
		t.Errorf("values that do not fit: %v", err)
	}
	gone := chartWithSchema("web", `{"$ref": "`+server.URL+`/gone.json"}`)
	if err := checkValues(gone, map[string]any{}); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a schema that is gone: %v", err)
	}
}
