package usermetrics

import (
	"fmt"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Limits of a store.
const (
	maxNames  = 1000  // metrics
	maxSeries = 10000 // metrics times resources
)

// Store holds the metrics that playbooks have reported. It is safe for concurrent use.
type Store struct {
	registerer prometheus.Registerer
	clock      clock.PassiveClock

	mu       sync.Mutex
	families map[string]*family
	series   int             // of all families
	claimed  map[string]bool // names that were ever claimed
	uids     map[owner]types.UID
}

// family is all there is of one name.
type family struct {
	kind   kind
	help   string
	claim  claim // keeps the name from others
	series map[owner]*series
}

// owner is the resource that a series is about; zero for the series of callers that are no run.
type owner struct{ group, version, kind, namespace, name string }

func ownerOf(o engine.Owner) owner {
	group, version, found := strings.Cut(o.APIVersion, "/")
	if !found {
		group, version = "", o.APIVersion
	}
	return owner{group, version, o.Kind, o.Namespace, o.Name}
}

// labelNames are the labels of a resource's series, as resource_created_at_seconds has them.
var labelNames = []string{"name", "namespace", "group", "version", "kind"}

func (o owner) labels() []string { return []string{o.name, o.namespace, o.group, o.version, o.kind} }

// NewStore returns a store whose metrics registerer shows. A nil clock is the system's.
func NewStore(registerer prometheus.Registerer, c clock.PassiveClock) (*Store, error) {
	if c == nil {
		c = clock.RealClock{}
	}
	s := &Store{registerer: registerer, clock: c, families: map[string]*family{}, claimed: map[string]bool{}, uids: map[owner]types.UID{}}
	if err := registerer.Register(s); err != nil {
		return nil, fmt.Errorf("register the metrics of playbooks: %w", err)
	}
	return s, nil
}

// record takes in a report about a resource.
func (s *Store) record(about owner, r report) error {
	kind, err := r.kind()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.family(r, kind)
	if err != nil {
		return err
	}
	if f.series[about] == nil {
		if s.series >= maxSeries {
			s.prune(r.Name, f)
			return fmt.Errorf("no room for %s: there are %d series of metrics already", r.Name, s.series)
		}
		f.series[about] = newSeries(kind)
		s.series++
	}
	f.series[about].apply(r, s.clock.Now())
	return nil
}

// family returns the family of a name, made if need be. It is called with the lock held.
func (s *Store) family(r report, kind kind) (*family, error) {
	if f := s.families[r.Name]; f != nil {
		if f.kind != kind {
			return nil, fmt.Errorf("cannot change metric type of %s, which is a %s", r.Name, describe(f.kind, kind))
		}
		return f, nil
	}
	if len(s.families) >= maxNames {
		return nil, fmt.Errorf("no room for %s: there are %d metrics already", r.Name, maxNames)
	}
	names, err := s.claim(r.Name, kind)
	if err != nil {
		return nil, err
	}
	f := &family{kind: kind, help: r.Description, claim: names, series: map[owner]*series{}}
	s.families[r.Name] = f
	return f, nil
}

// describe names the type of a metric to a caller who wants another. The old tool did not tell histograms from summaries.
func describe(is, wanted kind) string {
	observes := func(k kind) bool { return k == histogram || k == summary }
	if observes(is) && !observes(wanted) {
		return "histogram or summary"
	}
	return string(is)
}

// begin notes that a run of a resource begins. What an earlier resource of the same name has left is dropped: that one may
// have gone and this one come without anybody's notice.
func (s *Store) begin(resource engine.Owner) {
	about := ownerOf(resource)
	s.mu.Lock()
	defer s.mu.Unlock()
	if uid, known := s.uids[about]; known && uid != resource.UID {
		s.drop(about)
	}
	s.uids[about] = resource.UID
}

// Forget drops the series of a resource that is gone.
func (s *Store) Forget(resource engine.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	about := ownerOf(resource)
	delete(s.uids, about)
	s.drop(about)
}

// drop drops the series of a resource. It is called with the lock held.
func (s *Store) drop(about owner) {
	for name, f := range s.families {
		if f.series[about] != nil {
			delete(f.series, about)
			s.series--
			s.prune(name, f)
		}
	}
}

// prune gives the name of an empty family back. It is called with the lock held.
func (s *Store) prune(name string, f *family) {
	if len(f.series) > 0 {
		return
	}
	s.registerer.Unregister(f.claim)
	delete(s.families, name)
}

// Describe implements [prometheus.Collector]. Names come and go, hence nothing is described.
func (*Store) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (s *Store) Collect(metrics chan<- prometheus.Metric) {
	for _, metric := range s.snapshot() {
		metrics <- metric
	}
}

func (s *Store) snapshot() []prometheus.Metric {
	s.mu.Lock()
	defer s.mu.Unlock()
	metrics := make([]prometheus.Metric, 0, s.series)
	for name, f := range s.families {
		plain := prometheus.NewDesc(name, f.help, nil, nil)
		labelled := prometheus.NewDesc(name, f.help, labelNames, nil)
		for about, series := range f.series {
			if about == (owner{}) {
				metrics = append(metrics, series.metric(plain))
			} else {
				metrics = append(metrics, series.metric(labelled, about.labels()...))
			}
		}
	}
	return metrics
}
