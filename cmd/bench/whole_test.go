package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestQuick keeps the bench from rotting: it goes through one small round with every executor. What comes out is not judged,
// since other tests run beside it.
func TestQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
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
