package status

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxPruned bounds the fields remembered for a kind; outputs may bring new names with every run.
const maxPruned = 256

// pruned remembers, for each kind, the fields that the API server drops because the CRD's schema does not know them.
// They are not sent again; else each comparison would find them missing and send them for ever.
type pruned struct {
	mu     sync.Mutex
	fields map[schema.GroupVersionKind]map[string]bool
}

// strip returns status without the fields that are known to be dropped.
func (p *pruned) strip(gvk schema.GroupVersionKind, status map[string]any) map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fields[gvk]) == 0 {
		return status
	}
	return object(without(p.fields[gvk], "", status))
}

// learn compares what was sent with what came back and returns the fields that are found to be dropped for the first
// time, sorted. A field is written like conditions[].ansibleResult.
func (p *pruned) learn(gvk schema.GroupVersionKind, sent, stored map[string]any) []string {
	missing := missing("", sent, stored)
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.fields[gvk]
	missing = slices.DeleteFunc(missing, func(path string) bool { return known[path] })
	slices.Sort(missing)
	missing = slices.Compact(missing)
	missing = missing[:min(len(missing), maxPruned-len(known))]
	if len(missing) == 0 {
		return nil
	}
	if known == nil {
		known = map[string]bool{}
	}
	for _, path := range missing {
		known[path] = true
	}
	if p.fields == nil {
		p.fields = map[schema.GroupVersionKind]map[string]bool{}
	}
	p.fields[gvk] = known
	return missing
}

// forget lets the fields of a kind be sent again.
func (p *pruned) forget(gvk schema.GroupVersionKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.fields, gvk)
}

// without copies value, leaving out the dropped fields.
func without(dropped map[string]bool, path string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for key, item := range v {
			if at := join(path, key); !dropped[at] {
				kept[key] = without(dropped, at, item)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, item := range v {
			kept[i] = without(dropped, path+"[]", item)
		}
		return kept
	default:
		return value
	}
}

// missing returns the fields that are in sent and not in stored.
func missing(path string, sent, stored any) []string {
	var found []string
	switch s := sent.(type) {
	case map[string]any:
		has, ok := stored.(map[string]any)
		for key, value := range s {
			if _, there := has[key]; ok && !there && value != nil {
				found = append(found, join(path, key))
				continue
			}
			found = append(found, missing(join(path, key), value, has[key])...)
		}
	case []any:
		has, _ := stored.([]any)
		for i := range min(len(s), len(has)) {
			found = append(found, missing(path+"[]", s[i], has[i])...)
		}
	}
	return found
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
