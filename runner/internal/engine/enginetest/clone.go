package enginetest

import (
	"maps"
	"slices"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// cloneJob returns a copy of job that shares no memory with it, apart from the Progress function.
func cloneJob(job engine.Job) engine.Job {
	job.Inputs = cloneMap(job.Inputs)
	job.Annotations = maps.Clone(job.Annotations)
	job.Kubeconfig = slices.Clone(job.Kubeconfig)
	return job
}

func cloneMap(in map[string]any) map[string]any {
	if in == nil {
		return nil
	}
	out := make(map[string]any, len(in))
	for k, v := range in {
		out[k] = cloneValue(v)
	}
	return out
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneMap(v)
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = cloneValue(v[i])
		}
		return out
	default:
		return v
	}
}
