package usermetrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// series is the state of one metric of one resource. The store's lock guards it.
type series struct {
	kind    kind
	value   float64  // of a counter or a gauge; the sum of a histogram or a summary
	count   uint64   // observations
	buckets []uint64 // observations up to each of the bounds
}

// bounds are the upper ends of a histogram's buckets, as the old tool had them.
var bounds = prometheus.DefBuckets

func newSeries(k kind) *series {
	s := &series{kind: k}
	if k == histogram {
		s.buckets = make([]uint64, len(bounds))
	}
	return s
}

// apply carries out what a report says. The report is of the series' type.
func (s *series) apply(r report, now time.Time) {
	switch s.kind {
	case counter:
		s.add(*r.Counter)
	case gauge:
		s.value = r.Gauge.of(s.value, now)
	case histogram:
		s.observe(*r.Histogram)
	case summary:
		s.observe(*r.Summary)
	}
}

func (s *series) add(op counterOp) {
	if op.Increment {
		s.value++
		return
	}
	s.value += op.Add
}

// of returns what the value becomes. Of several operations the first one counts, as ever; that a gauge is set to zero is
// new, hence it comes after all that counted before.
func (op gaugeOp) of(value float64, now time.Time) float64 {
	switch {
	case op.Increment:
		return value + 1
	case op.Decrement:
		return value - 1
	case op.Add != 0:
		return value + op.Add
	case op.Subtract != 0:
		return value - op.Subtract
	case op.Set != nil && *op.Set != 0:
		return *op.Set
	case op.SetToCurrentTime:
		return float64(now.UnixNano()) / float64(time.Second)
	case op.Set != nil:
		return 0
	}
	return value
}

// observe counts a value. Without one the series is made and counts nothing.
func (s *series) observe(op observeOp) {
	if op.Observe == nil {
		return
	}
	s.count++
	s.value += *op.Observe
	for i := range s.buckets {
		if *op.Observe <= bounds[i] {
			s.buckets[i]++
		}
	}
}

// metric returns the series as it is now.
func (s *series) metric(desc *prometheus.Desc, labels ...string) prometheus.Metric {
	switch s.kind {
	case histogram:
		buckets := make(map[float64]uint64, len(bounds))
		for i, bound := range bounds {
			buckets[bound] = s.buckets[i]
		}
		return prometheus.MustNewConstHistogram(desc, s.count, s.value, buckets, labels...)
	case summary:
		return prometheus.MustNewConstSummary(desc, s.count, s.value, nil, labels...)
	case counter:
		return prometheus.MustNewConstMetric(desc, prometheus.CounterValue, s.value, labels...)
	default:
		return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, s.value, labels...)
	}
}
