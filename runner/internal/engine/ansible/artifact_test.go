package ansible

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArtifactLayout: tools that read what ansible-runner left find the same here.
func TestArtifactLayout(t *testing.T) { eachExecutor(t, artifactLayout) }

func artifactLayout(t *testing.T, b *bench) {
	t.Helper()
	job := newJob()
	b.run(b.play("- {name: say it, debug: {msg: hi}}\n- {name: give up, fail: {msg: no}}"), job)

	for name, want := range map[string]string{"rc": "2", "status": "failed", "executor": string(b.executor)} {
		if got := b.artifact(job, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if stdout := b.artifact(job, "stdout"); !strings.Contains(stdout, "TASK [say it] ***") || !strings.Contains(stdout, "PLAY RECAP ***") {
		t.Errorf("stdout is %q", stdout)
	}
	latest, err := os.Readlink(filepath.Join(filepath.Dir(b.artifactPath(job, "")), "latest"))
	if latest != job.ID || err != nil {
		t.Errorf("latest leads to %q, %v", latest, err)
	}

	form := regexp.MustCompile(`^(\d+)-[0-9a-f]{8}-[0-9a-f-]{27}\.json$`)
	names := map[string]string{}
	entries, err := os.ReadDir(b.artifactPath(job, "job_events"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		number := form.FindStringSubmatch(entry.Name())
		var event struct {
			Event string `json:"event"`
			Data  struct {
				Task string `json:"task"`
			} `json:"event_data"`
		}
		text := b.artifact(job, "job_events/"+entry.Name())
		if err := json.Unmarshal([]byte(text), &event); err != nil || number == nil {
			t.Fatalf("%s: %v\n%s", entry.Name(), err, text)
		}
		names[number[1]] = strings.TrimSpace(event.Event + " " + event.Data.Task)
	}
	want := map[string]string{
		"1": "playbook_on_start", "2": "playbook_on_play_start", "3": "playbook_on_task_start say it", "4": "runner_on_ok say it",
		"5": "playbook_on_task_start give up", "6": "runner_on_failed give up", "7": "playbook_on_stats",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("events by number (-want +got):\n%s", diff)
	}
}

// TestArtifactsAreBoundedByAnnotation: the annotation wins over the configuration.
func TestArtifactsAreBoundedByAnnotation(t *testing.T) {
	eachExecutor(t, artifactsAreBoundedByAnnotation)
}

func artifactsAreBoundedByAnnotation(t *testing.T, b *bench) {
	t.Helper()
	b.configure = func(cfg *Config) { cfg.MaxArtifacts = 5 }
	e := b.play("- debug: {msg: hi}")
	last := ""
	for range 3 {
		job := newJob()
		job.Annotations = map[string]string{annotationMaxArtifacts: "1"}
		b.run(e, job)
		last = job.ID
	}
	if got, want := kept(b.workspace, newJob().Owner), "latest "+last; got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
}
