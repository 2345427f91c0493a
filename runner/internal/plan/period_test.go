package plan

import (
	"strings"
	"testing"
	"time"
)

func TestPeriod(t *testing.T) {
	const (
		ansible = "ansible.sdk.operatorframework.io/reconcile-period"
		helm    = "helm.sdk.operatorframework.io/reconcile-period"
	)
	for name, c := range map[string]struct {
		reason      string
		annotations map[string]string
		watch       *time.Duration
		want        time.Duration
		bad         bool
	}{
		"Default":       {"neither says anything", nil, nil, 10 * time.Hour, false},
		"Watch":         {"the file wins over the command line", nil, new(time.Minute), time.Minute, false},
		"WatchZero":     {"zero in the file really disables it (E4)", nil, new(time.Duration(0)), 0, false},
		"Annotation":    {"the resource wins over the file", map[string]string{ansible: "30s"}, new(time.Minute), 30 * time.Second, false},
		"Helm":          {"helm-operator's annotation, too", map[string]string{helm: "1h30m"}, nil, 90 * time.Minute, false},
		"Zero":          {"a resource may opt out", map[string]string{ansible: "0s"}, new(time.Minute), 0, false},
		"Negative":      {"Go durations were accepted, negative ones meant never", map[string]string{ansible: "-1s"}, nil, -time.Second, false},
		"Fraction":      {"Go durations were accepted, fractions, too", map[string]string{ansible: "1.5h"}, nil, 90 * time.Minute, false},
		"Bad":           {"a bad one is told and the next best is used", map[string]string{ansible: "soon"}, new(time.Minute), time.Minute, true},
		"Empty":         {"an empty one is bad", map[string]string{ansible: ""}, nil, 10 * time.Hour, true},
		"BareNumber":    {"a number has no unit", map[string]string{helm: "30"}, nil, 10 * time.Hour, true},
		"OtherPrefixes": {"annotations of others are none of ours", map[string]string{"example.com/reconcile-period": "1s"}, nil, 10 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Period(c.annotations, c.watch, 10*time.Hour)
			if got != c.want || (err != nil) != c.bad {
				t.Errorf("%s: got %v, %v, want %v, error %v", c.reason, got, err, c.want, c.bad)
			}
			if err != nil && !strings.Contains(err.Error(), "reconcile-period is \"") {
				t.Errorf("the error does not name the annotation and its value: %v", err)
			}
		})
	}
}

func TestPeriodErrorIsShort(t *testing.T) {
	_, err := Period(map[string]string{"helm.sdk.operatorframework.io/reconcile-period": strings.Repeat("x", 100_000)}, nil, 0)
	if err == nil || len(err.Error()) > 300 {
		t.Errorf("the error repeats the whole value of an annotation")
	}
}

func FuzzPeriod(f *testing.F) {
	for _, seed := range []string{"", "30s", "-1h", "1.5h", "soon", "9999999h", "1h\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, err := Period(map[string]string{"ansible.sdk.operatorframework.io/reconcile-period": value}, nil, time.Minute)
		if err != nil && got != time.Minute {
			t.Errorf("%q is bad, yet the period is %v", value, got)
		}
	})
}
