package watches

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Schedule is a series of times at which resources are run.
type Schedule struct {
	// Name reaches the playbook as chartbook_run.schedule. It is unique in a watch.
	Name string
	// Cron is the expression as written: five fields, or @daily and the like.
	Cron string
	// TimeZone is the zone that Cron is meant in. Default UTC.
	TimeZone string
	// Concurrency says what becomes of a time that comes while a run of the resource is in progress. Default [Allow].
	Concurrency ConcurrencyPolicy

	times cron.Schedule
	zone  *time.Location
}

// ConcurrencyPolicy says what becomes of a time that comes while a run of the resource is in progress. The names are those
// of a CronJob.
type ConcurrencyPolicy string

// The policies.
const (
	Allow   ConcurrencyPolicy = "Allow"   // the run follows when the one in progress has ended
	Forbid  ConcurrencyPolicy = "Forbid"  // the time is passed over
	Replace ConcurrencyPolicy = "Replace" // the run in progress is ended and the run follows
)

// maxSchedules bounds the schedules of one watch.
const maxSchedules = 32

// NewSchedule makes a schedule and checks it. The error says which part is wrong.
func NewSchedule(name, expression, timeZone string, policy ConcurrencyPolicy) (Schedule, error) {
	s := Schedule{Name: name, Cron: expression, TimeZone: timeZone, Concurrency: policy, zone: time.UTC}
	if strings.Contains(expression, "TZ=") {
		return s, errors.New("cron: give the time zone by timeZone, not in the expression")
	}
	var err error
	if s.times, err = cron.ParseStandard(expression); err != nil {
		return s, fmt.Errorf("cron: %q is no cron expression (%w); write five fields like '0 3 * * *'", expression, err)
	}
	if timeZone == "Local" {
		return s, errors.New("timeZone: Local is whatever the operator happens to run in; name one like Europe/Berlin")
	}
	if timeZone != "" {
		if s.zone, err = time.LoadLocation(timeZone); err != nil {
			return s, fmt.Errorf("timeZone: there is no time zone %q; name one like Europe/Berlin", timeZone)
		}
	}
	return s, nil
}

// Next returns the first time after t, zero if there is none.
func (s Schedule) Next(t time.Time) time.Time { return s.times.Next(t.In(s.zone)) }

func readSchedules(e *entry, n *yaml.Node, key string) {
	names := map[string]bool{}
	e.eachItem(n, key, func(item *yaml.Node, path string) {
		schedule, ok := e.readSchedule(item, path)
		switch {
		case !ok:
		case names[schedule.Name]:
			e.failf(item, path, "choose another name", "%s: there is another schedule %s", key, schedule.Name)
		case len(names) == maxSchedules:
			e.failf(item, path, "", "%s has more than %d items", key, maxSchedules)
		default:
			e.watch.Schedules = append(e.watch.Schedules, schedule)
		}
		names[schedule.Name] = true
	})
}

func (e *entry) readSchedule(n *yaml.Node, path string) (Schedule, bool) {
	if follow(n).Kind != yaml.MappingNode {
		e.failf(n, path, "write name: and cron:", "%s must be a mapping", path)
		return Schedule{}, false
	}
	var s Schedule
	policy := string(Allow)
	places := map[string]*string{"name": &s.Name, "cron": &s.Cron, "timeZone": &s.TimeZone, "concurrencyPolicy": &policy}
	readable := true
	e.eachField(n, path, []string{"name", "cron", "timeZone", "concurrencyPolicy"}, func(name string, value *yaml.Node, path string) {
		text, ok := e.textValue(value, path)
		*places[name], readable = text, readable && ok
	})
	if !readable {
		return s, false
	}
	s.Concurrency = ConcurrencyPolicy(policy)
	return e.checkSchedule(n, path, s)
}

func (e *entry) checkSchedule(n *yaml.Node, path string, s Schedule) (Schedule, bool) {
	switch {
	case s.Name == "" || s.Cron == "":
		e.failf(n, path, "", "%s: a schedule needs a name and a cron expression", path)
		return s, false
	case len(validation.IsDNS1123Label(s.Name)) > 0:
		e.failf(n, path, "write lower-case letters, digits and hyphens", "%s: %q cannot be a schedule's name", path, s.Name)
		return s, false
	case s.Concurrency != Allow && s.Concurrency != Forbid && s.Concurrency != Replace:
		e.failf(n, path, "write Allow, Forbid or Replace", "%s: there is no policy %q", path, s.Concurrency)
		return s, false
	}
	schedule, err := NewSchedule(s.Name, s.Cron, s.TimeZone, s.Concurrency)
	if err != nil {
		e.failf(n, path, "", "%s: %v", path, err)
		return s, false
	}
	return schedule, true
}
