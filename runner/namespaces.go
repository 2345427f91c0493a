package runner

import "strings"

// ParseNamespaces reads the value of WATCH_NAMESPACE: a comma-separated list in which blanks do not count. Nothing left
// means all namespaces.
func ParseNamespaces(list string) []string {
	var namespaces []string
	seen := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name != "" && !seen[name] {
			seen[name] = true
			namespaces = append(namespaces, name)
		}
	}
	return namespaces
}
