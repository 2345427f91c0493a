package helm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"
)

// outline returns a manifest of the same objects without texts of at least limit bytes. What it leaves out are keys
// of mappings, never items of lists: of such an object Helm's commands still know what it is, delete it, and leave
// alone in the cluster what they do not see.
func outline(manifest string, limit int) string {
	documents := releaseutil.SplitManifests(manifest)
	names := make([]string, 0, len(documents))
	for name := range documents {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }) // they end in a number
	var out strings.Builder
	for _, name := range names {
		out.WriteString("---\n")
		out.WriteString(strings.TrimSuffix(outlineOne(documents[name], limit), "\n"))
		out.WriteString("\n")
	}
	return out.String()
}

// outlineOne returns one document as it is, or without its long texts.
func outlineOne(document string, limit int) string {
	if len(document) < limit {
		return document
	}
	var obj map[string]any
	if err := yaml.Unmarshal([]byte(document), &obj); err != nil {
		return document
	}
	dropped := dropLong(obj, "", limit)
	if len(dropped) == 0 {
		return document
	}
	text, err := yaml.Marshal(obj)
	if err != nil {
		return document
	}
	slices.Sort(dropped)
	return "# Left out here, since a Secret cannot hold it: " + strings.Join(dropped, ", ") + "\n" + string(text)
}

// dropLong takes long texts out of a mapping and says where they were.
func dropLong(fields map[string]any, path string, limit int) []string {
	var dropped []string
	for key, value := range fields {
		at := strings.TrimPrefix(path+"."+key, ".")
		switch value := value.(type) {
		case string:
			if len(value) >= limit {
				delete(fields, key)
				dropped = append(dropped, fmt.Sprintf("%s (%d bytes)", at, len(value)))
			}
		case map[string]any:
			dropped = append(dropped, dropLong(value, at, limit)...)
		}
	}
	return dropped
}
