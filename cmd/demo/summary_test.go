package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("not as in %s (-want +got):\n%s", path, diff)
	}
}

func TestSummary(t *testing.T) {
	runs := newRunLog()
	told := ""
	runs.onChange(func(id string) { told = id })
	runs.add(run{ID: "r1", Kind: "Sample", Name: "sample", Outcome: "Changed", Duration: 1500 * time.Millisecond})
	runs.add(run{ID: "r2", Kind: "Sample", Name: "sample", Outcome: "Succeeded", Duration: time.Second})
	runs.add(run{ID: "r3", Kind: "TrainingJob", Name: "training", Outcome: "Changed", Duration: 2 * time.Second})
	if told != "TrainingJob/training" || runs.last("Sample/sample").ID != "r2" || runs.last("Sample/sample").seq != 2 {
		t.Errorf("told of %q last; the last run of the sample is %+v", told, runs.last("Sample/sample"))
	}
	golden(t, "summary", summaryText(8, runs, []stepResult{
		{title: "Change a spec", took: 1234 * time.Millisecond},
		{title: "Delete a resource that has a finalizer", err: errors.New("stuck")},
	}, "dir/operator.log", 47*time.Second)+"\n")
	golden(t, "summary-no-runs", summaryText(0, newRunLog(), nil, "dir/operator.log", time.Second)+"\n")
}
