package watches

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Template is text with fields of a resource in it, like "{{ .spec.secretName }}-tls". Between the braces stands a path
// and nothing else: no function, no filter, no expression. What a field holds is put in as it is and never read as a
// template again. The zero Template is no text at all.
type Template struct {
	text  string
	parts []templatePart
}

// templatePart is literal text, or a field if it has a path.
type templatePart struct {
	literal string
	path    []pathStep
}

// pathStep leads to a key of a mapping or an item of a list.
type pathStep struct {
	key   string
	index int // of an item; used where key is empty
}

// Where a path may begin, and which parts of metadata it may name: what else is there changes without anybody's doing.
var (
	fieldsOfMetadata = map[string]bool{"name": true, "namespace": true, "uid": true, "labels": true, "annotations": true}
	plainStep        = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*`)
	bracketStep      = regexp.MustCompile(`^\[(?:"([^"\]]+)"|'([^'\]]+)'|([0-9]{1,6}))\]`)
)

// ParseTemplate reads a template. The error says what is wrong with it.
func ParseTemplate(text string) (Template, error) {
	t := Template{text: text}
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "{{")
		if strings.Contains(before, "}}") {
			return Template{}, errors.New("}} closes nothing")
		}
		if before != "" {
			t.parts = append(t.parts, templatePart{literal: before})
		}
		if !found {
			break
		}
		inside, behind, closed := strings.Cut(after, "}}")
		if !closed {
			return Template{}, errors.New("{{ is not closed by }}")
		}
		path, err := parsePath(strings.TrimSpace(inside))
		if err != nil {
			return Template{}, err
		}
		t.parts = append(t.parts, templatePart{path: path})
		rest = behind
	}
	return t, nil
}

// parsePath reads a path like .spec.items[0].name. The dot at its beginning may be left out.
func parsePath(text string) ([]pathStep, error) {
	rest := "." + strings.TrimPrefix(text, ".")
	var path []pathStep
	for rest != "" {
		if m := bracketStep.FindStringSubmatch(rest); m != nil && len(path) > 0 {
			step := pathStep{key: m[1] + m[2]}
			if m[3] != "" {
				step.index, _ = strconv.Atoi(m[3]) // at most six digits
			}
			path, rest = append(path, step), rest[len(m[0]):]
			continue
		}
		name := plainStep.FindString(strings.TrimPrefix(rest, "."))
		if rest[0] != '.' || name == "" {
			return nil, fmt.Errorf("%q is no path of a field like .spec.secretName", text)
		}
		path, rest = append(path, pathStep{key: name}), rest[1+len(name):]
	}
	return path, checkPath(text, path)
}

// checkPath refuses what changes by itself: a reference would change with every run.
func checkPath(text string, path []pathStep) error {
	switch root := path[0].key; {
	case root == "status":
		return fmt.Errorf("%q refers to the status, which runs write; refer to spec or metadata", text)
	case root == "metadata" && (len(path) < 2 || !fieldsOfMetadata[path[1].key]):
		return fmt.Errorf("%q: of metadata only name, namespace, uid, labels and annotations can be referred to", text)
	}
	return nil
}

// IsZero reports whether there is no template.
func (t Template) IsZero() bool { return t.text == "" }

// Literal reports whether the text is the same for all resources.
func (t Template) Literal() bool {
	for _, part := range t.parts {
		if part.path != nil {
			return false
		}
	}
	return true
}

// String returns the template as it is written.
func (t Template) String() string { return t.text }

// MarshalJSON writes the template as it is written.
func (t Template) MarshalJSON() ([]byte, error) { return json.Marshal(t.text) }

// Equal reports whether both are written alike.
func (t Template) Equal(other Template) bool { return t.text == other.text }

// reads reports whether a field below this key of the spec is put in.
func (t Template) reads(key string) bool {
	for _, part := range t.parts {
		if len(part.path) > 1 && part.path[0].key == "spec" && part.path[1].key == key {
			return true
		}
	}
	return false
}

// fixed reports whether all fields that are put in stay as they are for the life of a resource.
func (t Template) fixed() bool {
	for _, part := range t.parts {
		if part.path != nil && (len(part.path) != 2 || part.path[0].key != "metadata" || part.path[1].key != "name" && part.path[1].key != "namespace") {
			return false
		}
	}
	return true
}

// Expand puts the fields of a resource in. found is false when one of them is missing, null or empty, which means
// that the resource refers to nothing. The error says which field is a list or mapping.
func (t Template) Expand(obj map[string]any) (text string, found bool, err error) {
	var out strings.Builder
	for _, part := range t.parts {
		if part.path == nil {
			out.WriteString(part.literal)
			continue
		}
		value, err := fieldText(obj, part.path)
		if err != nil || value == "" {
			return "", false, err
		}
		out.WriteString(value)
	}
	return out.String(), out.Len() > 0, nil
}

// fieldText returns what a field holds as text; empty if there is no such field.
func fieldText(value any, path []pathStep) (string, error) {
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[step.key]
		case []any:
			value = nil
			if step.key == "" && step.index < len(v) {
				value = v[step.index]
			}
		default:
			return "", nil
		}
	}
	switch value.(type) {
	case map[string]any:
		return "", fmt.Errorf("%s is a mapping, not text", pathText(path))
	case []any:
		return "", fmt.Errorf("%s is a list, not text", pathText(path))
	}
	return text(value), nil
}

func pathText(path []pathStep) string {
	var out strings.Builder
	for i, step := range path {
		switch {
		case step.key == "":
			fmt.Fprintf(&out, "[%d]", step.index)
		case plainStep.FindString(step.key) != step.key:
			fmt.Fprintf(&out, "[%q]", step.key)
		default:
			if i > 0 {
				out.WriteByte('.')
			}
			out.WriteString(step.key)
		}
	}
	return out.String()
}
