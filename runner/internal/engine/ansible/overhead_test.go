package ansible

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// idle stands in for programs: each ends at once.
type idle struct{}

func (idle) Run(context.Context, process.Spec) (process.Exit, error) { return process.Exit{}, nil }

// BenchmarkAroundARun is what the engine does beside running ansible-playbook.
func BenchmarkAroundARun(b *testing.B) {
	workspace, err := OpenWorkspace(filepath.Join(b.TempDir(), "workspace"), DefaultArtifactBytes)
	if err != nil {
		b.Fatal(err)
	}
	defer workspace.Close()
	playbook := filepath.Join(b.TempDir(), "play.yml")
	if err := os.WriteFile(playbook, []byte("[]"), 0o600); err != nil {
		b.Fatal(err)
	}
	e, err := New(Config{Workspace: workspace, Main: Content{Playbook: playbook}, Runner: idle{}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		job := newJob()
		job.Kubeconfig = []byte("{}")
		if _, err := e.Run(b.Context(), job); err != nil {
			b.Fatal(err)
		}
	}
}
