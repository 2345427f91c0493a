package helm

import (
	"bytes"
	"errors"
	"fmt"

	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// regenerateAnnotation on a resource asks for values anew that templates made up, each time that it changes.
const regenerateAnnotation = "chartbook.dev/regenerate"

// generatedLabel is, on a release Secret, what the annotation said.
const generatedLabel = "chartbook.dev/generated"

// generated keeps what templates made up in the last good revision, or in an install that failed and may have left
// something that goes by it: passwords, certificates, times. It is found by
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

// keepGenerated returns the post-renderer of an install or upgrade; nil where nothing is to be kept.
func (r *run) keepGenerated() (*generated, error) {
	from := r.store.history.inUse()
	wanted := r.generation()
	if !r.e.cfg.GenerateOnce || from == nil || wanted != "" && from.labels[generatedLabel] != wanted {
		return nil, nil
	}
	rel, err := r.store.load(from.version)
	if errors.Is(err, errCorrupt) {
		r.tell.notef("what templates made up is made up anew: %v", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	before, err := r.objectsOf(rel)
	if err != nil {
		return nil, err
	}
	return &generated{namespace: r.namespace, before: before, again: func() ([]string, error) {
		second, err := r.render(r.store.history.next())
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
