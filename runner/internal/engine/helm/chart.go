package helm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"k8s.io/utils/clock"
)

// restatAfter is how long a chart's files are taken for unchanged without a look.
const restatAfter = time.Second

// content is a loaded chart. It is shared by all runs; actions get a copy, since Helm changes charts.
type content struct {
	chart  *chart.Chart
	digest string
	uses   uses
}

// name returns the chart's name.
func (c *content) name() string { return c.chart.Metadata.Name }

// clone returns a copy of the chart that Helm may change.
func (c *content) clone() *chart.Chart { return cloneChart(c.chart) }

// chartSource loads a chart once, and again when its files have changed.
type chartSource struct {
	path  string
	clock clock.PassiveClock

	mu      sync.Mutex
	checked time.Time
	stamp   string
	current *content
	err     error // of the last load
}

// load returns the chart as it is on disk.
func (s *chartSource) load() (*content, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if s.stamp != "" && now.Sub(s.checked) < restatAfter {
		return s.current, s.err
	}
	stamp, err := fingerprint(s.path)
	if err != nil {
		s.stamp, s.current = "", nil
		return nil, fmt.Errorf("chart %s cannot be read: %w", s.path, err)
	}
	if stamp != s.stamp {
		s.current, s.err = loadChart(s.path)
	}
	s.stamp, s.checked = stamp, now
	return s.current, s.err
}

// errFetch is for a chart that could not be had, which says nothing about the chart.
var errFetch = errors.New("the chart is not there")

// load returns the chart, which may have to be fetched first.
func (e *Engine) load(ctx context.Context) (*content, error) {
	if e.cfg.Fetch != nil {
		if err := e.cfg.Fetch(ctx); err != nil {
			return nil, fmt.Errorf("%w: %w", errFetch, err)
		}
	}
	return e.charts.load()
}

func loadChart(path string) (*content, error) {
	c, err := loader.Load(path)
	if err != nil {
		return nil, fmt.Errorf("chart %s does not load: %w", path, err)
	}
	if strings.EqualFold(c.Metadata.Type, "library") {
		return nil, fmt.Errorf("chart %s (%s) is a library chart, which cannot be installed: %w", c.Name(), path, errLibraryChart)
	}
	loaded := &content{chart: c, digest: contentDigest(c), uses: scan(c)}
	c.Raw = nil // only the digest needs it
	return loaded, nil
}

var errLibraryChart = errors.New("it needs type: application in Chart.yaml")
