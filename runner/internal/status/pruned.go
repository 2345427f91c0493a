package status

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// pruned remembers, for each kind, the fields that the API server drops because the CRD's schema does not know them.
// They are not sent again; else each comparison would find them missing and send them for ever.
type pruned struct {
	mu     sync.Mutex
	fields map[schema.GroupVersionKind]map[string]bool
}

// inConditions marks a path within the conditions.
const inConditions = "conditions[]."

// strip returns status without the fields that are known to be dropped.
func (p *pruned) strip(gvk schema.GroupVersionKind, status map[string]any) map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	dropped := p.fields[gvk]
	if len(dropped) == 0 {
		return status
	}
	kept := maps.Clone(status)
	maps.DeleteFunc(kept, func(key string, _ any) bool { return dropped[key] })
	list, _ := kept["conditions"].([]any)
	if list == nil {
		return kept
	}
	conditions := make([]any, len(list))
	for i, entry := range list {
		conditions[i] = entry
		if m, ok := entry.(map[string]any); ok {
			m = maps.Clone(m)
			maps.DeleteFunc(m, func(key string, _ any) bool { return dropped[inConditions+key] })
			conditions[i] = m
		}
	}
	kept["conditions"] = conditions
	return kept
}

// learn compares what was sent with what came back and returns the fields that are found to be dropped for the first
// time, sorted.
func (p *pruned) learn(gvk schema.GroupVersionKind, sent, stored map[string]any) []string {
	missing := missingKeys("", sent, stored)
	sentList, _ := sent["conditions"].([]any)
	storedList, _ := stored["conditions"].([]any)
	if len(sentList) == len(storedList) {
		for i := range sentList {
			was, _ := sentList[i].(map[string]any)
			is, _ := storedList[i].(map[string]any)
			missing = append(missing, missingKeys(inConditions, was, is)...)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.fields[gvk]
	missing = slices.DeleteFunc(missing, func(path string) bool { return known[path] })
	slices.Sort(missing)
	missing = slices.Compact(missing)
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

// forget lets fields of a kind be sent again, since its CRD has changed.
func (p *pruned) forget(gvk schema.GroupVersionKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.fields, gvk)
}

// missingKeys returns the keys of sent that stored lacks.
func missingKeys(prefix string, sent, stored map[string]any) []string {
	var missing []string
	for key, value := range sent {
		if _, there := stored[key]; !there && value != nil {
			missing = append(missing, prefix+key)
		}
	}
	return missing
}
