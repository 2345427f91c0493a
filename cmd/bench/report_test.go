package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMetrics(t *testing.T) {
	const text = `# HELP chartbook_runs_total Runs that have ended, by outcome.
chartbook_runs_total{kind="Five",outcome="Changed"} 3
chartbook_runs_total{kind="Reading",outcome="Succeeded"} 2
chartbook_run_api_requests_total{kind="Five"} 12
chartbook_runs_in_progress{kind="Five"} 1
rest_client_requests_total{code="200",host="127.0.0.1:1",method="GET"} 1e+01
chartbook_ansible_runs_total{executor="warm",reason=""} 4
chartbook_ansible_modules_total{path="forked"} 20
`
	got, err := parseMetrics(strings.NewReader(text))
	want := meters{runs: 5, play: 12, operator: 10, paths: map[string]float64{
		`runs_total{executor="warm",reason=""}`: 4, `modules_total{path="forked"}`: 20,
	}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(meters{})); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(tt.values); got != tt.want {
			t.Errorf("median of %v is %v", tt.values, got)
		}
	}
}

// TestReport: the ratio is that of medians to the first executor, and the last executor has to reach the goals.
func TestReport(t *testing.T) {
	f := figures{}
	for executor, values := range map[string][]float64{"runner": {3, 2, 2.5}, "warm": {0.2, 0.25, 0.9}} {
		for _, value := range values {
			f.add(createToSuccessful, executor, value)
			f.add(allAtOnce, executor, value*value)
		}
	}
	f.add(reads, "runner", 9)
	f.add(reads, "warm", 1.4)
	o := options{executors: []string{"runner", "warm"}, rounds: 3}
	r := newReport(o, machine{}, f)
	verdicts := map[quantity]string{}
	for _, line := range r.Rows {
		verdicts[line.Quantity] = verdict(line.Reached)
	}
	if verdicts[createToSuccessful] != "reached" || verdicts[allAtOnce] != "reached" || verdicts[reads] != "MISSED" || verdicts[playRequests] != "" {
		t.Errorf("%v", verdicts)
	}
	var out strings.Builder
	r.print(&out)
	for _, want := range []string{"2.5", "0.25", "(10.0x)", "at least 10x", "at most 1.3", "MISSED"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	path := filepath.Join(t.TempDir(), "new", "bench.json")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	var back report
	if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &back) != nil || len(back.Figures[createToSuccessful]["warm"]) != 3 {
		t.Errorf("%v, %+v", err, back)
	}
	o.quick = true
	for _, line := range newReport(o, machine{}, f).Rows {
		if line.Reached != nil {
			t.Errorf("a quick round judges %s", line.Title)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"--executors=cold"}, "cold"},
		{[]string{"--rounds=0"}, "--rounds"},
		{[]string{"--executors="}, "--executors is empty"},
		{[]string{"more"}, "more"},
	} {
		cmd := newCommand()
		cmd.SetArgs(tt.args)
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v: %v", tt.args, err)
		}
	}
}
