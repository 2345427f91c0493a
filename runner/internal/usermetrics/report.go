package usermetrics

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// report is what a caller says: a name and one operation. Nil means that something was not said, which is not the same as
// zero.
type report struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Counter     *counterOp `json:"counter"`
	Gauge       *gaugeOp   `json:"gauge"`
	Histogram   *observeOp `json:"histogram"`
	Summary     *observeOp `json:"summary"`
}

type counterOp struct {
	Increment bool    `json:"increment"`
	Add       float64 `json:"add"`
}

type gaugeOp struct {
	Increment        bool     `json:"increment"`
	Decrement        bool     `json:"decrement"`
	Add              float64  `json:"add"`
	Subtract         float64  `json:"subtract"`
	Set              *float64 `json:"set"`
	SetToCurrentTime bool     `json:"set_to_current_time"`
}

type observeOp struct {
	Observe *float64 `json:"observe"`
}

// kind is the type of a metric.
type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
	summary   kind = "summary"
)

// Refusals, in the words of the old tool.
var (
	errSeveral  = errors.New("only one metric can be processed at a time")
	errNone     = errors.New("a request should contain at least one metric")
	errDecrease = errors.New("counter metrics cannot decrease in value")
)

// Limits of one report.
const (
	maxName = 200     // bytes of a name
	maxHelp = 2 << 10 // bytes of a description
)

var validName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

// kind returns the type of the metric; an error says why the report makes no sense.
func (r report) kind() (kind, error) {
	var kinds []kind
	add := func(k kind, given bool) {
		if given {
			kinds = append(kinds, k)
		}
	}
	add(counter, r.Counter != nil)
	add(gauge, r.Gauge != nil)
	add(histogram, r.Histogram != nil)
	add(summary, r.Summary != nil)
	switch {
	case len(kinds) > 1:
		return "", errSeveral
	case len(kinds) == 0:
		return "", errNone
	case r.Counter != nil && r.Counter.Add < 0:
		return "", errDecrease
	}
	return kinds[0], r.checkTexts()
}

func (r report) checkTexts() error {
	switch {
	case len(r.Name) > maxName:
		return fmt.Errorf("the name of the metric has %d bytes; at most %d are allowed", len(r.Name), maxName)
	case !validName.MatchString(r.Name):
		return fmt.Errorf("%q is not the name of a metric; use letters, digits, _ and :, and no digit in front", r.Name)
	case len(r.Description) > maxHelp:
		return fmt.Errorf("the description of %s has %d bytes; at most %d are allowed", r.Name, len(r.Description), maxHelp)
	case !utf8.ValidString(r.Description):
		return fmt.Errorf("the description of %s is not UTF-8", r.Name)
	}
	for _, prefix := range reserved {
		if strings.HasPrefix(r.Name, prefix) {
			return fmt.Errorf("the name %s is taken: names that begin with %s are the operator's own", r.Name, prefix)
		}
	}
	return nil
}

// reserved are the beginnings of the names of metrics that the process shows itself, or may come to show.
var reserved = []string{
	"ansible_operator_", "helm_operator_", "chartbook_", "resource_created_at_seconds", "controller_runtime_", "workqueue_",
	"rest_client_", "leader_election_", "certwatcher_", "go_", "process_", "promhttp_", "kubernetes_",
}
