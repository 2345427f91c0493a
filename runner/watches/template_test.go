package watches

import (
	"strings"
	"testing"
)

var templated = map[string]any{
	"metadata": map[string]any{"name": "web", "labels": map[string]any{"app.kubernetes.io/name": "shop"}},
	"spec": map[string]any{
		"secretName": "db", "empty": "", "null": nil, "number": int64(5), "flag": true,
		"list": []any{map[string]any{"name": "first"}}, "mapping": map[string]any{"a": "b"},
		"template": "{{ .spec.secretName }}", "a-b": "dash",
	},
}

// Covers AO 10.5 no. 4.
func TestTemplateExpands(t *testing.T) {
	cases := []struct {
		reason, in, want string
		found            bool
		err              string
	}{
		{"text is text", "plain", "plain", true, ""},
		{"a dot first, as in Helm", "{{ .spec.secretName }}", "db", true, ""},
		{"or none, as in Ansible", "{{spec.secretName}}", "db", true, ""},
		{"text around fields", "a-{{ .spec.secretName }}-{{ .metadata.name }}.z", "a-db-web.z", true, ""},
		{"an item of a list", "{{ .spec.list[0].name }}", "first", true, ""},
		{"a key that is no word", `{{ .metadata.labels["app.kubernetes.io/name"] }}`, "shop", true, ""},
		{"with the other quotes", `{{ .metadata.labels['app.kubernetes.io/name'] }}`, "shop", true, ""},
		{"a key with a hyphen", "{{ .spec.a-b }}", "dash", true, ""},
		{"numbers are text", "{{ .spec.number }}", "5", true, ""},
		{"booleans are text", "{{ .spec.flag }}", "true", true, ""},
		{"what a field holds is no template", "{{ .spec.template }}", "{{ .spec.secretName }}", true, ""},
		{"a missing field refers to nothing", "x-{{ .spec.missing }}", "", false, ""},
		{"a missing item too", "{{ .spec.list[1].name }}", "", false, ""},
		{"and a path through text", "{{ .spec.secretName.x }}", "", false, ""},
		{"an empty field too", "{{ .spec.empty }}", "", false, ""},
		{"and null", "{{ .spec.null }}", "", false, ""},
		{"a mapping is no name", "{{ .spec.mapping }}", "", false, "spec.mapping is a mapping, not text"},
		{"nor is a list", "{{ .spec.list }}", "", false, "spec.list is a list, not text"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			template, err := ParseTemplate(c.in)
			if err != nil {
				t.Fatal(err)
			}
			got, found, err := template.Expand(templated)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if got != c.want || found != c.found || said != c.err {
				t.Errorf("%s is %q, %v, %q; want %q, %v, %q", c.in, got, found, said, c.want, c.found, c.err)
			}
		})
	}
}

// FuzzTemplate checks that a template that parses has no functions: it gives the fields of the resource or nothing.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"", "a", "{{ .spec.secretName }}", "{{a[0]['b']}}x", "{{", "}}", "{{ lookup('pipe', 'id') }}", "{{ {{ }} }}", "{{.}}", "{{ .a..b }}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		template, err := ParseTemplate(in)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		text, found, err := template.Expand(templated)
		if template.Literal() && (text != in || err != nil) {
			t.Errorf("%q without fields is %q, %v", in, text, err)
		}
		if found && text == "" || err != nil && found {
			t.Errorf("%q gives %q, %v, %v", in, text, found, err)
		}
		if !template.Equal(template) || //nolint:gocritic // that it equals itself is to be shown
			template.String() != in {
			t.Errorf("%q is written as %q", in, template)
		}
	})
}
