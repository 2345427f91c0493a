package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestQuick goes through one small round with every executor. What comes out is not judged, since other tests may run beside
// it. It takes minutes, so it is for those who change the bench.
func TestQuick(t *testing.T) {
	if os.Getenv("CHARTBOOK_TEST_BENCH") == "" {
		t.Skip("CHARTBOOK_TEST_BENCH is not set")
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "not-to-be-used"))
	localcluster := os.Getenv("LOCALCLUSTER_BIN")
	if localcluster == "" {
		localcluster = "../../bin/localcluster"
	}
	path := filepath.Join(t.TempDir(), "bench.json")
	var out bytes.Buffer
	cmd := newCommand()
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"--quick", "--json", path, "--operator", "../../bin/chartbook", "--localcluster", localcluster})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v; 'make build localcluster' builds what it needs", err)
	}
	t.Logf("%s", &out)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	for _, line := range r.Rows {
		for i, value := range line.Values {
			if value <= 0 {
				t.Errorf("%s, %s: %v", line.Title, r.Executors[i], value)
			}
			if line.Quantity == runsPerResource && value != 1 {
				t.Errorf("%s: %v runs per resource", r.Executors[i], value)
			}
		}
	}
}
