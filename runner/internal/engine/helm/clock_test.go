package helm

import (
	"time"

	"helm.sh/helm/v3/pkg/releaseutil"
)

// fixedClock stands still.
type fixedClock struct{ now time.Time }

func (c fixedClock) Now() time.Time                  { return c.now }
func (c fixedClock) Since(t time.Time) time.Duration { return c.now.Sub(t) }

func splitDocuments(manifest string) []string {
	var out []string
	for _, text := range releaseutil.SplitManifests(manifest) {
		out = append(out, text)
	}
	return out
}
