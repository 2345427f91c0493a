package watches

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"text/template"

	sprig "github.com/go-task/slim-sprig/v3"
	"gopkg.in/yaml.v3"
	"helm.sh/helm/v3/pkg/strvals"
)

// readOverrides reads override values: assignments in the syntax of Helm's --set, in the order of the file.
func (d *decoder) readOverrides(n *yaml.Node, path string) []OverrideValue {
	n = follow(n)
	if null(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		d.failf(n, path, "", "%s must be a mapping of value paths to values", path)
		return nil
	}
	var values []OverrideValue
	tried := map[string]any{}
	for _, f := range d.fields(n, path, exactly) {
		value, ok := d.readOverride(f, join(path, f.name))
		if ok && d.tryOverride(f, path, value, tried) {
			values = append(values, value)
		}
	}
	return values
}

// tryOverride reports an assignment that does not parse, or does not go together with those before it.
func (d *decoder) tryOverride(f field, path string, value OverrideValue, tried map[string]any) bool {
	err := value.Apply(tried)
	switch {
	case err == nil:
		return true
	case errors.Is(err, errNoContainer):
		d.failf(f.value, join(path, f.name), "", "%v", err)
	default:
		d.failf(f.value, join(path, f.name), "put a backslash before a comma, brace or bracket that is part of the value", "%v", err)
	}
	return false
}

// readOverride reads one assignment and fills in its environment and template.
func (d *decoder) readOverride(f field, path string) (OverrideValue, bool) {
	n := follow(f.value)
	if f.name == "" {
		d.failf(f.key, path, "", "the path of a value must not be empty")
		return OverrideValue{}, false
	}
	if n.Kind != yaml.ScalarNode {
		d.failf(n, path, "write one line per value, with dots in the key: image.tag", "%s must be a single value", path)
		return OverrideValue{}, false
	}
	written, ok := d.textValue(n, path)
	if !ok {
		return OverrideValue{}, false
	}
	isTemplate := strings.Contains(written, "{{")
	expanded := expandOverride(written, isTemplate, d.options.LookupEnv)
	if strings.Contains(expanded, "{{") {
		var err error
		if expanded, err = d.renderOverride(expanded); err != nil {
			d.failf(n, path, "", "%s: %v", path, err)
			return OverrideValue{}, false
		}
	}
	if strings.EqualFold(n.Value, "null") && !quoted(n) {
		expanded = n.Value // removes a chart's default, as with --set
	}
	return OverrideValue{Key: f.name, Value: expanded, String: keepsString(n, isTemplate)}, true
}

// keepsString decides whether a value stays a string whatever it looks like. Quotes say so, except around a template,
// which YAML demands them for. A null that is not spelled out is the empty string, as it was in the old tools.
func keepsString(n *yaml.Node, isTemplate bool) bool {
	if n.Style&yaml.TaggedStyle != 0 {
		return n.Tag == "!!str"
	}
	return quoted(n) && !isTemplate
}

// expandOverride puts environment variables in. One that is not set becomes the empty string. A comma that comes
// out of a variable belongs to its value, unless the value is written as a list: {a,b} or {$NAMES}.
func expandOverride(written string, isTemplate bool, lookup func(string) (string, bool)) string {
	raw := os.Expand(written, func(name string) string {
		value, _ := lookup(name)
		return value
	})
	if isTemplate || strings.HasPrefix(raw, "{") {
		return raw
	}
	return os.Expand(written, func(name string) string {
		value, _ := lookup(name)
		return escapeCommas(value)
	})
}

// escapeCommas puts a backslash before each comma that has none.
func escapeCommas(s string) string {
	var out strings.Builder
	escaped := false
	for _, r := range s {
		if r == ',' && !escaped {
			out.WriteByte('\\')
		}
		escaped = r == '\\' && !escaped
		out.WriteRune(r)
	}
	return out.String()
}

// maxOverride bounds what a template may print, in bytes.
const maxOverride = 1 << 16

var errOverrideLength = errors.New("the template prints too much")

// renderOverride runs a value as a template with the functions of slim-sprig.
func (d *decoder) renderOverride(text string) (string, error) {
	if d.overrides == nil {
		d.overrides = template.New("value").Funcs(overrideFunctions(d.options.LookupEnv))
	}
	base, err := d.overrides.Clone() // so that no value sees what another one defines
	if err != nil {
		return "", fmt.Errorf("parse the template: %w", err)
	}
	parsed, err := base.Parse(text)
	if err != nil {
		return "", fmt.Errorf("parse the template: %w", err)
	}
	var out boundedText
	if err := parsed.Execute(&out, nil); err != nil {
		return "", fmt.Errorf("run the template: %w", err)
	}
	return out.String(), nil
}

// overrideFunctions are those of slim-sprig, with the environment that the file is read against.
func overrideFunctions(lookup func(string) (string, bool)) template.FuncMap {
	functions := sprig.TxtFuncMap()
	functions["env"] = func(name string) string { value, _ := lookup(name); return value }
	functions["expandenv"] = func(s string) string {
		return os.Expand(s, func(name string) string { value, _ := lookup(name); return value })
	}
	return functions
}

// boundedText refuses to hold more than maxOverride bytes.
type boundedText struct{ strings.Builder }

func (b *boundedText) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOverride {
		return 0, errOverrideLength
	}
	return b.Builder.Write(p)
}

var errNoContainer = errors.New("a part of its path already holds something else than a mapping or list")

// Apply makes the assignment in values, which may be changed also when there is an error.
func (o OverrideValue) Apply(values map[string]any) error {
	set := strvals.ParseInto
	if o.String {
		set = strvals.ParseIntoString
	}
	err := set(o.Key+"="+o.Value, values)
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "interface conversion"):
		err = errNoContainer
	}
	return fmt.Errorf("override value %s: %w", o.Key, err)
}
