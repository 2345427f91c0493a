package helm

import (
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
)

// slimmer are ways to make a release record smaller, the least harmful first. What is dropped is a copy of the
// chart; neither Helm's commands that act on a release nor we need it once the manifest is rendered.
var slimmer = []func(*chart.Chart){
	func(c *chart.Chart) { c.Files, c.Lock = nil, nil },
	func(c *chart.Chart) { c.Templates, c.Schema = nil, nil },
}

// slimmed returns rel without the first n parts, as a copy unless n is 0.
func slimmed(rel *release.Release, n int) *release.Release {
	if n == 0 {
		return rel
	}
	out := *rel
	if rel.Chart != nil {
		c := *rel.Chart
		for _, drop := range slimmer[:n] {
			drop(&c)
		}
		out.Chart = &c
	}
	return &out
}
