package helm

import (
	"fmt"
	"strconv"
	"strings"

	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// leaves are the scalars of a manifest by their paths, such that two manifests of the same objects have the same
// leaves whatever the order, and whoever marked the objects with an owner.
type leaves map[string]string

// normalise reads a release's manifest.
func normalise(manifest, namespace string) (leaves, error) {
	var documents []string
	for _, text := range releaseutil.SplitManifests(manifest) {
		documents = append(documents, text)
	}
	return normaliseAll(documents, namespace)
}

// normaliseAll reads the documents of a manifest.
func normaliseAll(documents []string, namespace string) (leaves, error) {
	out := leaves{}
	for _, text := range documents {
		var obj map[string]any
		if err := yaml.Unmarshal([]byte(text), &obj); err != nil {
			return nil, fmt.Errorf("read a manifest: %w", err)
		}
		out.addObject(obj, namespace)
	}
	return out, nil
}

func (l leaves) addObject(fields map[string]any, namespace string) {
	if len(fields) == 0 {
		return
	}
	obj := &unstructured.Unstructured{Object: fields}
	if items, ok := fields["items"].([]any); ok && strings.HasSuffix(obj.GetKind(), "List") {
		for _, item := range items {
			if fields, ok := item.(map[string]any); ok {
				l.addObject(fields, namespace)
			}
		}
		return
	}
	stripMarks(obj, namespace)
	name := obj.GetNamespace() + "/" + obj.GetName()
	l.add(obj.GetAPIVersion()+" "+obj.GetKind()+" "+name, fields)
}

// stripMarks takes off what the operators that ran charts before put on objects.
func stripMarks(obj *unstructured.Unstructured, namespace string) {
	metadata, ok := obj.Object["metadata"].(map[string]any)
	if !ok {
		return
	}
	delete(metadata, "ownerReferences")
	delete(metadata, "creationTimestamp")
	if metadata["namespace"] == namespace {
		delete(metadata, "namespace")
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, primaryAnnotation)
	delete(annotations, primaryTypeAnnotation)
	labels, _ := metadata["labels"].(map[string]any)
	delete(labels, chartLabel)
}

// add adds the scalars below path. Nulls and what is empty count as absent.
func (l leaves) add(path string, v any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for key, value := range v {
			l.add(path+"."+key, value)
		}
	case []any:
		for i, value := range v {
			l.add(path+"["+strconv.Itoa(i)+"]", value)
		}
	default:
		l[path] = text(v)
	}
}

// text writes a scalar so that 5, 5.0 and "5" are the same: override values used to be strings always, and what
// matters is what the templates make of them.
func text(v any) string {
	if number, ok := v.(float64); ok {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// differences returns the paths at which a and b differ.
func differences(a, b leaves) map[string]bool {
	out := map[string]bool{}
	for path, value := range a {
		if other, ok := b[path]; !ok || other != value {
			out[path] = true
		}
	}
	for path := range b {
		if _, ok := a[path]; !ok {
			out[path] = true
		}
	}
	return out
}
