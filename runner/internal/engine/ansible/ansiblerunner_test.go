package ansible

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// TestPrivateDataDirectory: while a run lasts, the directory of AO §3.3 is there; no file of it may be read by others
// (AO 10.5), and none outlives the run.
// Covers UP B3.
func TestPrivateDataDirectory(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, Runner)
	b.configure = func(cfg *Config) { cfg.ExtraArgs = `--tags all -e 'word="it''s"'` }
	job := newJob()
	job.Kubeconfig = []byte("{kind: Config}")
	run := b.workspace.Dir() + "/runner/" + resourcePath(job.Owner)
	job.Inputs = map[string]any{"run": run}
	got := b.run(b.play(`
- set_stats:
    data:
      files: "{{ lookup('pipe', 'cd ' ~ run ~ ' && find . -type f -printf \"%m %P\\n\" | grep -v ^600.spool/run/job_events/ | sort') }}"
      envvars: "{{ lookup('file', run ~ '/env/envvars') }}"
      cmdline: "{{ lookup('file', run ~ '/env/cmdline') }}"
      cwd: "{{ lookup('pipe', 'readlink /proc/$PPID/cwd') }}"
      terminal: "{{ lookup('pipe', 'readlink /proc/$PPID/fd/0') }}"`), job)
	if !got.Outcome.OK() {
		t.Fatalf("result is %+v", got)
	}
	want := map[string]any{
		"envvars": map[string]any{"K8S_AUTH_KUBECONFIG": run + "/env/kubeconfig", "KUBECONFIG": run + "/env/kubeconfig"},
		"cmdline": `'--tags' 'all' '-e' 'word="its"'`,
		"cwd":     run + "/project",
	}
	files, _ := got.Outputs["files"].(string)
	terminal, _ := got.Outputs["terminal"].(string)
	delete(got.Outputs, "files")
	delete(got.Outputs, "terminal")
	if text, ok := got.Outputs["envvars"].(string); ok {
		var parsed map[string]any
		_ = json.Unmarshal([]byte(text), &parsed)
		got.Outputs["envvars"] = parsed
	}
	if diff := cmp.Diff(want, got.Outputs); diff != "" {
		t.Errorf("what the play sees (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(terminal, "/dev/pts/") {
		t.Errorf("standard input of the play is %s, not a terminal", terminal)
	}
	for _, file := range []string{"600 env/cmdline", "600 env/envvars", "600 env/extravars", "600 env/kubeconfig", "600 env/settings", "600 inventory/hosts"} {
		if !slices.Contains(strings.Split(files, "\n"), file) {
			t.Errorf("there is no %s in\n%s", file, files)
		}
	}
	b.onlyArtifactsLeft(job)
}

// TestFewArtifacts: with a limit of 1 or 2, ansible-runner's own rotation breaks each run but the first (AO 10.1 no. 3).
func TestFewArtifacts(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2} {
		b := newBenchOf(t, Runner)
		b.configure = func(cfg *Config) { cfg.MaxArtifacts = limit }
		e := b.play("- debug: {msg: hi}")
		var ids []string
		for range 4 {
			job := newJob()
			if got := b.run(e, job); got.Outcome != engine.Succeeded {
				t.Errorf("limit %d: %+v", limit, got)
			}
			ids = append(ids, job.ID)
		}
		want := strings.Join(append([]string{"latest"}, ids[4-limit:]...), " ")
		if got := kept(b.workspace, newJob().Owner); got != want {
			t.Errorf("limit %d: kept %q, want %q", limit, got, want)
		}
	}
}

// TestKilledBelowRunner: when a signal ends ansible-playbook, ansible-runner ends with exit code 0 and writes "None".
func TestKilledBelowRunner(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, Runner)
	job := newJob()
	done := b.start(t.Context(), b.play(hanging), job)
	eventually(t, "the run hangs", func() bool { return hangs(job) })
	for pid, line := range processesOf(job) {
		if strings.Contains(line, "/ansible-playbook ") && parentOf(t, pid) == leader(t, job) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	got := <-done
	if got.Outcome != engine.Transient || got.Reason != engine.ReasonKilled || got.Message != "ansible-playbook was ended by a signal" {
		t.Errorf("result is %+v", got)
	}
	noneLeft(t, job) // nobody looks after what the play has started
	b.onlyArtifactsLeft(job)
}

// stub makes a directory with programs, which are shell scripts, and puts it in front of the PATH.
func (b *bench) stub(programs map[string]string) {
	b.t.Helper()
	for name, script := range programs {
		if err := os.Chmod(b.file("bin/"+name, "#!/bin/sh\n"+script), 0o700); err != nil {
			b.t.Fatal(err)
		}
	}
	dir := filepath.Join(b.content, "bin")
	b.configure = func(cfg *Config) {
		cfg.Environ = func() []string { return append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH")) }
		cfg.LookPath = func(name string) (string, error) {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
			return exec.LookPath(name)
		}
	}
}

// TestRunnerThatGivesUp: ansible-runner itself may fail, and then says so on its own standard error only.
func TestRunnerThatGivesUp(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, Runner)
	b.stub(map[string]string{"ansible-runner": "echo 'TASK [x]'; echo 'Traceback:' >&2; echo 'OSError: no terminal left' >&2; exit 1\n"})
	job := newJob()
	got := b.run(b.play("- debug: {msg: hi}"), job)
	if got.Outcome != engine.Transient || got.Reason != engine.ReasonPlaybookError || got.Message != "OSError: no terminal left" {
		t.Errorf("result is %+v", got)
	}
	if rc, status := b.artifact(job, "rc"), b.artifact(job, "status"); rc != "1" || status != "failed" {
		t.Errorf("rc is %s, status %s", rc, status)
	}
}

// TestRunnerReady: what is missing is told with what to do.
func TestRunnerReady(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why, script string
		says        string // empty: ready
	}{
		{"any version from 2.0 will do", "echo 2.0.0a4", ""},
		{"newer ones warn before they answer", "echo 'UserWarning: x' >&2; echo 2.4.3", ""},
		{"older ones lack options", "echo 1.4.7", "ansible-runner is version 1.4.7: install 2.0 or later, or use the executor direct"},
		{"one that does not start", "echo 'No module named pexpect' >&2; exit 1", "No module named pexpect"},
	}
	for _, tt := range tests {
		b := newBenchOf(t, Runner)
		b.stub(map[string]string{"ansible-runner": tt.script + "\n"})
		err := b.play("- debug:").Ready(t.Context())
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
	b := newBenchOf(t, Runner)
	b.configure = func(cfg *Config) {
		cfg.LookPath = func(name string) (string, error) {
			if name == runnerProgram {
				return "", &missingError{name}
			}
			return exec.LookPath(name)
		}
	}
	e := b.play("- debug:")
	for _, err := range []error{e.Ready(t.Context()), second(e.Run(t.Context(), newJob()))} {
		if err == nil || !strings.Contains(err.Error(), "install ansible-runner 2.0 or later, or use the executor direct") {
			t.Errorf("without ansible-runner: %v", err)
		}
	}
}

func TestUnknownExecutor(t *testing.T) {
	_, err := New(Config{Workspace: &Workspace{}, Main: Content{Playbook: "/p.yml"}, Executor: "ssh"})
	if err == nil || !strings.Contains(err.Error(), `no executor "ssh"`) {
		t.Errorf("error is %v", err)
	}
}

// TestEventsOfAnsibleRunner reads the event files that ansible-runner itself has written, which differ between its
// versions in how they write times.
func TestEventsOfAnsibleRunner(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, Runner)
	job := newJob()
	job.Inputs = map[string]any{"spool": b.workspace.Dir() + "/runner/" + resourcePath(job.Owner) + "/spool"}
	got := b.run(b.play(`- set_stats: {data: {text: "{{ lookup('pipe', 'cat ' ~ spool ~ '/run/job_events/*.json | head -c 100000') }}"}}`), job)
	text, _ := got.Outputs["text"].(string)
	decoder := json.NewDecoder(strings.NewReader(text))
	n := 0
	for ; decoder.More(); n++ {
		var line json.RawMessage
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		event, err := parseEvent(line)
		if err != nil || event.Created.IsZero() || event.Name == "" {
			t.Errorf("%s: %+v, %v", line, event, err)
		}
	}
	if n < 3 {
		t.Errorf("only %d events in %s; result %+v", n, text, got)
	}
}

func TestTimestamps(t *testing.T) {
	for _, text := range []string{
		"2026-11-30T22:19:04.187875", "2026-11-30T22:19:04.187875Z", "2026-11-30T22:19:04.187875+00:00",
		"2026-12-01T00:19:04.187875+02:00", "2026-11-30 22:19:04.187875", "2026-11-30 22:19:04.187875+00:00",
	} {
		for _, fraction := range []string{".187875", ""} { // Python leaves a fraction of zero out
			text := strings.Replace(text, ".187875", fraction, 1)
			event, err := parseEvent([]byte(`{"event": "verbose", "created": "` + text + `"}`))
			if got := event.Created.UTC().Format("2006-01-02T15:04:05.999999Z"); err != nil || got != "2026-11-30T22:19:04"+fraction+"Z" {
				t.Errorf("%s becomes %s, %v", text, got, err)
			}
		}
	}
	for _, text := range []string{`"soon"`, `""`, `17`} {
		if _, err := parseEvent([]byte(`{"created": ` + text + `}`)); err == nil {
			t.Errorf("%s is a time", text)
		}
	}
}

func TestLineEnds(t *testing.T) {
	for _, tt := range []struct {
		why    string
		writes []string
		want   string
	}{
		{"a terminal's line ends become those of files", []string{"a\r\nb\r\n"}, "a\nb\n"},
		{"also when they come in two pieces", []string{"a\r", "\nb\r", "\n"}, "a\nb\n"},
		{"a carriage return alone stays", []string{"a\rb\r", "c"}, "a\rb\rc"},
		{"empty writes change nothing", []string{"a\r", "", "\n"}, "a\n"},
	} {
		var got strings.Builder
		w := &lineEnds{to: &got}
		for _, text := range tt.writes {
			if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
				t.Errorf("%s: write gives %d, %v", tt.why, n, err)
			}
		}
		if got.String() != tt.want {
			t.Errorf("%s: %q", tt.why, got.String())
		}
	}
}
