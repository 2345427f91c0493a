package helm

import (
	"helm.sh/helm/v3/pkg/chart"
)

// cloneChart returns a copy that shares only the bytes of files with c. Helm changes charts while it works: it drops
// disabled dependencies, renames aliased ones and merges values.
func cloneChart(c *chart.Chart) *chart.Chart {
	out := &chart.Chart{
		Metadata:  cloneMetadata(c.Metadata),
		Templates: cloneFiles(c.Templates),
		Files:     cloneFiles(c.Files),
		Schema:    c.Schema,
		Values:    cloneMap(c.Values),
	}
	if c.Lock != nil {
		lock := *c.Lock
		lock.Dependencies = cloneDependencies(c.Lock.Dependencies)
		out.Lock = &lock
	}
	for _, dependency := range c.Dependencies() {
		out.AddDependency(cloneChart(dependency))
	}
	return out
}

func cloneMetadata(m *chart.Metadata) *chart.Metadata {
	out := *m
	out.Dependencies = cloneDependencies(m.Dependencies)
	return &out
}

func cloneDependencies(list []*chart.Dependency) []*chart.Dependency {
	if list == nil {
		return nil
	}
	out := make([]*chart.Dependency, 0, len(list))
	for _, d := range list {
		if d == nil {
			continue
		}
		dependency := *d
		dependency.ImportValues = cloneList(d.ImportValues)
		out = append(out, &dependency)
	}
	return out
}

func cloneFiles(files []*chart.File) []*chart.File {
	out := make([]*chart.File, 0, len(files))
	for _, f := range files {
		if f != nil {
			file := *f
			out = append(out, &file)
		}
	}
	return out
}

// cloneMap returns a deep copy of JSON-compatible data.
func cloneMap(in map[string]any) map[string]any {
	out := make(map[string]any, len(in))
	for key, value := range in {
		out[key] = cloneValue(value)
	}
	return out
}

func cloneList(in []any) []any {
	if in == nil {
		return nil
	}
	out := make([]any, len(in))
	for i := range in {
		out[i] = cloneValue(in[i])
	}
	return out
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneMap(v)
	case []any:
		return cloneList(v)
	default:
		return v
	}
}
