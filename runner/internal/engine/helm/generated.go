package helm

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"reflect"

	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// regenerateAnnotation on a resource asks for values anew that templates made up, each time that it changes.
const regenerateAnnotation = "chartbook.dev/regenerate"

// generatedLabel is, on a release Secret, what the annotation said.
const generatedLabel = "chartbook.dev/generated"

// generated keeps what templates made up in the last good revision: passwords, certificates, times. It is found by
// rendering twice: what differs between two renderings of the same inputs was made up. As a post-renderer it sees what
// Helm has rendered and changes that before it is stored or sent.
//
// Annotations of Pods that are made from configuration, so that a change of that starts new Pods, are kept only if no
// ConfigMap and no Secret changes.
type generated struct {
	namespace string
	before    map[string]map[string]any // objects of the last good revision
	again     func() ([]string, error)  // renders once more
}

// keepGenerated returns the post-renderer of an upgrade; nil where nothing is to be kept.
func (r *run) keepGenerated() (*generated, error) {
	good := r.store.history.deployed()
	wanted := r.generation()
	if !r.e.cfg.GenerateOnce || good == nil || wanted != "" && good.labels[generatedLabel] != wanted {
		return nil, nil
	}
	rel, err := r.store.load(good.version)
	if err != nil {
		return nil, err
	}
	before, err := r.objectsOf(rel)
	if err != nil {
		return nil, err
	}
	next := r.store.history.last().version + 1
	return &generated{namespace: r.namespace, before: before, again: func() ([]string, error) {
		second, err := r.render(next)
		return second.manifests, err
	}}, nil
}

// generation stands for the value of the annotation; empty without one.
func (r *run) generation() string {
	if asked := r.job.Annotations[regenerateAnnotation]; asked != "" && r.e.cfg.GenerateOnce {
		return part([]byte(asked))
	}
	return ""
}

func (r *run) objectsOf(rel *release.Release) (map[string]map[string]any, error) {
	return objectsByKey(splitInOrder(rel.Manifest), rel.Namespace)
}

// objectsByKey reads documents. What is no object is left out.
func objectsByKey(documents []string, namespace string) (map[string]map[string]any, error) {
	out := map[string]map[string]any{}
	for _, text := range documents {
		fields, key, err := readObject(text, namespace)
		if err != nil {
			return nil, err
		}
		if key != "" {
			out[key] = fields
		}
	}
	return out, nil
}

// readObject reads a document and names its object, empty for none.
func readObject(text, namespace string) (map[string]any, string, error) {
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		return nil, "", fmt.Errorf("read a manifest: %w", err)
	}
	obj := &unstructured.Unstructured{Object: fields}
	if obj.GetName() == "" {
		return fields, "", nil
	}
	space := obj.GetNamespace()
	if space == "" {
		space = namespace
	}
	return fields, obj.GetAPIVersion() + " " + obj.GetKind() + " " + space + "/" + obj.GetName(), nil
}

// Run implements Helm's PostRenderer.
func (g *generated) Run(rendered *bytes.Buffer) (*bytes.Buffer, error) {
	documents := splitInOrder(rendered.String())
	texts, err := g.again()
	if err != nil {
		return nil, fmt.Errorf("render once more to find what is made up: %w", err)
	}
	again, err := objectsByKey(texts, g.namespace)
	if err != nil {
		return nil, err
	}
	kept := make([]keeping, len(documents))
	for i, text := range documents {
		fields, key, err := readObject(text, g.namespace)
		if err != nil {
			return nil, err
		}
		kept[i] = keeping{fields: fields, again: again[key], before: g.before[key]}
		kept[i].object()
	}
	same := true
	for i := range kept {
		same = same && !kept[i].changesConfiguration()
	}
	var out bytes.Buffer
	for i := range kept {
		if same {
			kept[i].annotations()
		}
		text, err := kept[i].text(documents[i])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "---\n%s\n", text)
	}
	return &out, nil
}

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
		a, _ := again.(map[string]any)
		b, _ := before.(map[string]any)
		for key := range f {
			switch {
			case key == annotationsKey && annotations:
				f[key] = k.value(f[key], a[key], b[key], false)
			case key == annotationsKey:
			default:
				f[key] = k.value(f[key], a[key], b[key], annotations)
			}
		}
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
