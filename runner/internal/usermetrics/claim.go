package usermetrics

import (
	"errors"
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// claim is a collector that shows nothing. Registered, it keeps names from other collectors: a registry lets no two have
// the same one, but would refuse to show anything at all if the same name came from two that do not describe theirs.
type claim []string

// Describe implements [prometheus.Collector].
func (c claim) Describe(descs chan<- *prometheus.Desc) {
	for _, name := range c {
		descs <- prometheus.NewDesc(name, "Reported by playbooks.", nil, prometheus.Labels{"kept": "for playbooks"})
	}
}

// Collect implements [prometheus.Collector].
func (claim) Collect(chan<- prometheus.Metric) {}

// maxClaims bounds the names that are ever claimed: a registry remembers them.
const maxClaims = 10 * maxNames

// suffixes are what comes behind the name of a histogram or a summary.
var suffixes = []string{"_bucket", "_count", "_sum"}

// claim keeps a name, and those that are made of it, from others. It is called with the lock held.
func (s *Store) claim(name string, kind kind) (claim, error) {
	if base := s.baseOf(name); base != "" {
		return nil, fmt.Errorf("the name %s is taken by parts of the metric %s", name, base)
	}
	names := claim{name}
	if kind == histogram || kind == summary {
		for _, suffix := range suffixes {
			if s.families[name+suffix] != nil {
				return nil, fmt.Errorf("the name %s is taken: a part of it would be %s, which is a metric already", name, name+suffix)
			}
			names = append(names, name+suffix)
		}
	}
	if err := s.register(names); err != nil {
		return nil, fmt.Errorf("the name %s is taken: %w", name, err)
	}
	return names, nil
}

func (s *Store) register(names claim) error {
	for _, name := range names {
		if !s.claimed[name] && len(s.claimed) >= maxClaims {
			return fmt.Errorf("there have been %d names of metrics already", len(s.claimed))
		}
	}
	if err := s.registerer.Register(names); err != nil {
		return errors.New("it belongs to a metric of the operator")
	}
	for _, name := range names {
		s.claimed[name] = true
	}
	return nil
}

// baseOf returns the histogram or summary to whose parts a name belongs: one of ours, or whatever others have
// registered under the name without its suffix. Empty if there is none.
func (s *Store) baseOf(name string) string {
	for _, suffix := range suffixes {
		base, found := strings.CutSuffix(name, suffix)
		if !found || base == "" {
			continue
		}
		if f := s.families[base]; f != nil {
			if f.kind == histogram || f.kind == summary {
				return base
			}
			continue
		}
		probe := claim{base}
		if s.register(probe) != nil {
			return base
		}
		s.registerer.Unregister(probe)
	}
	return ""
}
