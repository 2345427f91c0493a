package helm

import (
	"maps"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
)

// A release record has to fit into a Secret. What does not is left out, the least harmful first: the chart's files,
// its templates (neither Helm's commands that act on a release nor we need them once the manifest is rendered), and
// then long texts of the manifest, which are kept whole beside the record (parts.go).
var (
	slimmer = []func(*chart.Chart){
		func(c *chart.Chart) { c.Files, c.Lock = nil, nil },
		func(c *chart.Chart) { c.Templates, c.Schema = nil, nil },
	}
	outlines = []int{64 << 10, 16 << 10, 4 << 10, 1 << 10, 256} // shortest text that is left out, in bytes
)

// maxLevel is how much can be left out.
var maxLevel = len(slimmer) + len(outlines)

// slimmed returns rel at a level of what is left out, as a copy. parts is the label of the whole manifest beside the
// record, if there has to be one.
func slimmed(rel *release.Release, level int, parts string) *release.Release {
	out := *rel
	out.Labels = maps.Clone(rel.Labels)
	delete(out.Labels, partsLabel) // Helm copies the labels of a release to the next one
	if rel.Chart != nil {
		c := *rel.Chart
		for _, drop := range slimmer[:min(level, len(slimmer))] {
			drop(&c)
		}
		out.Chart = &c
	}
	if isOutline(level) {
		out.Manifest = outline(rel.Manifest, outlines[level-len(slimmer)-1])
		if out.Labels == nil {
			out.Labels = map[string]string{}
		}
		out.Labels[partsLabel] = parts
	}
	return &out
}

// isOutline reports whether the manifest is not whole at a level.
func isOutline(level int) bool { return level > len(slimmer) }
