package helm

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"helm.sh/helm/v3/pkg/release"
)

var errStub = errors.New("a revision that was not read cannot be written")

// write writes a revision, without a part of its chart's copy where it is too large otherwise.
func (s *store) write(rel *release.Release, send func(*release.Release) error) error {
	if s.stubs[rel] {
		return fmt.Errorf("write revision %d of release %s: %w", rel.Version, rel.Name, errStub)
	}
	if s.stamp != nil {
		s.stamp(rel)
	}
	sent, err := s.send(rel, send)
	for errors.Is(err, errTooLarge) && s.level < maxLevel {
		s.level++
		sent, err = s.send(rel, send)
	}
	if err != nil {
		return err
	}
	s.loaded[rel.Version] = rel
	s.remember(rel, sent.Labels)
	if isOutline(s.level) {
		s.dropParts()
	}
	return nil
}

// send writes what the level leaves of a revision.
func (s *store) send(rel *release.Release, send func(*release.Release) error) (*release.Release, error) {
	parts := ""
	if isOutline(s.level) {
		var err error
		if parts, err = s.keepParts(rel.Manifest); err != nil {
			return nil, err
		}
	}
	sent := slimmed(rel, s.level, parts)
	return sent, send(sent)
}

// remember brings the history to what has been written.
func (s *store) remember(rel *release.Release, labels map[string]string) {
	r := record{version: rel.Version}
	at := slices.IndexFunc(s.history, func(r record) bool { return r.version == rel.Version })
	if at >= 0 {
		r = s.history[at]
	}
	r.status, r.labels = rel.Info.Status, maps.Clone(labels)
	r.readLabels(labels)
	if at >= 0 {
		s.history[at] = r
		return
	}
	s.history = sorted(append(s.history, r))
}
