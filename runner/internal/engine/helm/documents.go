package helm

import (
	"bufio"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// splitInOrder returns the documents of a manifest that are not empty, in their order.
func splitInOrder(manifest string) []string {
	var out []string
	reader := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(manifest)))
	for {
		document, err := reader.Read()
		if err != nil { // the end: reading from memory cannot fail otherwise
			return out
		}
		if text := strings.TrimSpace(strings.TrimPrefix(string(document), "---\n")); text != "" {
			out = append(out, text)
		}
	}
}
