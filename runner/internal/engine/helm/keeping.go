package helm

import (
	"encoding/base64"
	"fmt"
	"reflect"

	"sigs.k8s.io/yaml"
)

// keeping is one object on its way.
type keeping struct {
	fields, again, before map[string]any
	changed               bool
}

const annotationsKey = "annotations"

// object keeps all but annotations.
func (k *keeping) object() {
	if k.again == nil || k.before == nil {
		return
	}
	for field := range k.fields {
		if field == "data" && k.fields["kind"] == "Secret" {
			k.secretData()
			continue
		}
		k.fields[field] = k.value(k.fields[field], k.again[field], k.before[field], false)
	}
}

// annotations keeps annotations, wherever they are.
func (k *keeping) annotations() {
	if k.again == nil || k.before == nil {
		return
	}
	for field := range k.fields {
		k.fields[field] = k.value(k.fields[field], k.again[field], k.before[field], true)
	}
}

// changesConfiguration reports whether the object is configuration that is new or differs from before.
func (k *keeping) changesConfiguration() bool {
	kind := k.fields["kind"]
	return (kind == "ConfigMap" || kind == "Secret") && !reflect.DeepEqual(k.fields, k.before)
}

// value keeps what is made up in a value: of annotations, or of all else.
func (k *keeping) value(fresh, again, before any, annotations bool) any {
	switch f := fresh.(type) {
	case map[string]any:
		k.mapping(f, again, before, annotations)
	case []any:
		a, _ := again.([]any)
		b, _ := before.([]any)
		for i := range f {
			if len(a) == len(f) && i < len(b) {
				f[i] = k.value(f[i], a[i], b[i], annotations)
			}
		}
	case string:
		if !annotations {
			return k.scalar(f, again, before)
		}
	}
	return fresh
}

func (k *keeping) mapping(fresh map[string]any, again, before any, annotations bool) {
	a, _ := again.(map[string]any)
	b, _ := before.(map[string]any)
	for key := range fresh {
		switch {
		case key == annotationsKey && annotations:
			fresh[key] = k.value(fresh[key], a[key], b[key], false)
		case key == annotationsKey:
		default:
			fresh[key] = k.value(fresh[key], a[key], b[key], annotations)
		}
	}
}

func (k *keeping) scalar(fresh string, again, before any) string {
	a, isText := again.(string)
	b, wasText := before.(string)
	if !isText || !wasText || a == fresh || b == fresh {
		return fresh
	}
	text, ok := keepText(fresh, a, b)
	if !ok || text == fresh {
		return fresh
	}
	k.changed = true
	return text
}

// secretData keeps what is made up in the data of a Secret, which is found in the decoded text.
func (k *keeping) secretData() {
	data, _ := k.fields["data"].(map[string]any)
	again, _ := k.again["data"].(map[string]any)
	before, _ := k.before["data"].(map[string]any)
	for key := range data {
		texts, ok := decoded(data[key], again[key], before[key])
		if !ok || texts[0] == texts[1] {
			continue
		}
		if text, ok := keepText(texts[0], texts[1], texts[2]); ok {
			data[key], k.changed = base64.StdEncoding.EncodeToString([]byte(text)), true
		}
	}
}

// decoded returns the texts of values in base64; false if one is none.
func decoded(values ...any) ([]string, bool) {
	texts := make([]string, len(values))
	for i, value := range values {
		encoded, ok := value.(string)
		data, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil {
			return nil, false
		}
		texts[i] = string(data)
	}
	return texts, true
}

// text returns the document: as it was rendered, or anew where something was kept.
func (k *keeping) text(rendered string) (string, error) {
	if !k.changed {
		return rendered, nil
	}
	data, err := yaml.Marshal(k.fields)
	if err != nil {
		return "", fmt.Errorf("write a manifest: %w", err)
	}
	return string(data), nil
}
