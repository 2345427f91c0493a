package ansible

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// hideAll replaces each of the secrets.
func hideAll(secrets ...string) redactor {
	return func(text string) string {
		for _, secret := range secrets {
			text = strings.ReplaceAll(text, secret, "********")
		}
		return text
	}
}

// TestRedaction looks for known secrets in all that comes out of a run, and for the cause of a failure, which is to stay
// readable without no_log.
// Covers UP I3.
func TestRedaction(t *testing.T) {
	t.Parallel()
	// In JSON the second one looks otherwise than as a value; the third one is a word of the event stream itself.
	secrets := []string{"canary-one", "canary \"two\" ä", "localhost"}
	eachExecutor(t, func(t *testing.T, b *bench) {
		var heard strings.Builder
		b.configure = func(cfg *Config) { cfg.Output = func(engine.Job) io.Writer { return &heard } }
		e := b.play(`
- set_stats: {data: {token: "{{ one }}", list: [{deep: "x {{ two }}"}], chartbook: {outcome: permanent, message: "not {{ one }}"}}}
- name: log in with {{ one }}
  debug: {msg: "{{ two }}"}
- name: try {{ one }}
  command: sh -c 'echo "{{ one }}"; echo wrong password "{{ one }}" for the database >&2; exit 3'
  ignore_errors: true
- fail: {msg: "{{ 'x' * 790 }}{{ one }}"}`)
		var progress events
		job := newJob()
		job.Progress = progress.add
		job.Redact = hideAll(secrets...)
		job.Inputs = map[string]any{"one": secrets[0], "two": secrets[1]}
		got := b.run(e, job)
		if got.Outcome != engine.Permanent || got.Message != "not ********" || got.Stats == nil || got.Stats.Failures != 1 {
			t.Errorf("result is %+v", got)
		}
		want := map[string]any{"token": "********", "list": []any{map[string]any{"deep": "x ********"}}}
		if diff := cmp.Diff(want, got.Outputs); diff != "" {
			t.Errorf("outputs (-want +got):\n%s", diff)
		}
		if tasks := strings.Join(progress.of(engine.EventFailed), ","); tasks != "try ********,fail" {
			t.Errorf("failed tasks are %s", tasks)
		}
		cause := "wrong password ******** for the database"
		texts := map[string]string{"output": heard.String(), "result": fmt.Sprintf("%+v", got), "events": fmt.Sprintf("%+v", progress.all)}
		for _, file := range []string{"stdout", "status", "rc"} {
			texts[file] = b.artifact(job, file)
		}
		for i, text := range b.eventFiles(job) {
			var leaves any
			if err := json.Unmarshal([]byte(text), &leaves); err != nil {
				t.Errorf("event file %s: %v", text, err)
			}
			texts[fmt.Sprint("event file ", i)] = fmt.Sprint(leaves)
			texts["event files"] += text
		}
		for _, name := range []string{"output", "events", "stdout", "event files"} {
			if !strings.Contains(texts[name], cause) {
				t.Errorf("the cause is not in the %s: %s", name, texts[name])
			}
		}
		for name, text := range texts {
			for _, secret := range append(secrets[:2:2], "canary-on") { // cut by the limit of a message
				if strings.Contains(text, secret) {
					t.Errorf("%q is in the %s: %s", secret, name, text)
				}
			}
		}
	})
}

// TestRedactionOfGivingUp: what ansible-playbook says when it gives up is no event.
func TestRedactionOfGivingUp(t *testing.T) {
	t.Parallel()
	eachExecutor(t, func(t *testing.T, b *bench) {
		job := newJob()
		job.Redact = hideAll("hunter2")
		got := b.run(b.playbook("- hosts: localhost\n  gather_facts: false\n  roles: [hunter2]\n"), job)
		if got.Outcome != engine.Permanent || !strings.Contains(got.Message, "'********' was not found") || strings.Contains(fmt.Sprint(got), "hunter2") {
			t.Errorf("result is %+v", got)
		}
		paths, _ := filepath.Glob(b.artifactPath(job, "std*"))
		for _, path := range paths {
			if text, _ := os.ReadFile(path); strings.Contains(string(text), "hunter2") {
				t.Errorf("the secret is in %s: %s", path, text)
			}
		}
	})
}

// TestRedactedLines: a secret may be cut anywhere by the pieces in which output comes.
func TestRedactedLines(t *testing.T) {
	const secret = "canary"
	long := strings.Repeat("x", maxRedactedLine-3)
	for _, tt := range []struct {
		why    string
		writes []string
		want   string
	}{
		{"pieces are put together", strings.Split("a canary b\nc", ""), "a ****** b\nc"},
		{"a last line without an end is not lost", []string{"canary"}, "******"},
		{"of a line that is too long no half of a secret comes through, and the next line does",
			[]string{long + secret + long + "\n" + secret + "\n"}, long[:maxRedactedLine-maxSecret+1] + cutMark + "******\n"},
	} {
		var got strings.Builder
		w := &redactedLines{to: &got, hide: func(text string) string { return strings.ReplaceAll(text, secret, "******") }}
		for _, text := range tt.writes {
			if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
				t.Errorf("%s: write gives %d, %v", tt.why, n, err)
			}
		}
		w.flush()
		if got.String() != tt.want {
			t.Errorf("%s: %d bytes, want %d", tt.why, len(got.String()), len(tt.want))
		}
	}
}

// TestLateSecrets: what becomes known as a secret during the run goes from what was printed before, and so does one of
// several lines.
func TestLateSecrets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	job := newJob()
	var known atomic.Bool
	job.Redact = func(text string) string {
		if strings.Contains(text, "now it is known") {
			known.Store(true)
		}
		if known.Load() {
			text = hideAll("first\nsecond", "early")(text)
		}
		return text
	}
	e := b.engine(Content{Playbook: b.file("play.yml", playOn("localhost", "- debug: {msg: early}\n- debug: {msg: now it is known}"))})
	b.file("callback_plugins/two.py", "from ansible.plugins.callback import CallbackBase\n"+
		"class CallbackModule(CallbackBase):\n    CALLBACK_NAME = 'two'\n"+
		"    def v2_playbook_on_play_start(self, play):\n        self._display.display('first\\nsecond')\n")
	b.run(e, job)
	stdout := b.artifact(job, "stdout")
	if strings.Contains(stdout, "early") || strings.Contains(stdout, "second") ||
		!strings.Contains(stdout, "\n********\n") || !strings.Contains(stdout, `"msg": "********"`) {
		t.Errorf("stdout is %s", stdout)
	}
}

func FuzzRedactedLines(f *testing.F) {
	f.Add([]byte("a secret\nb"), 3)
	f.Fuzz(func(t *testing.T, text []byte, chunk int) {
		var got strings.Builder
		w := &redactedLines{to: &got, hide: func(text string) string { return strings.ReplaceAll(text, "secret", "") }}
		for rest := text; len(rest) > 0; {
			n := min(max(chunk, 1), len(rest))
			_, _ = w.Write(rest[:n])
			rest = rest[n:]
		}
		w.flush()
		if want := strings.ReplaceAll(string(text), "secret", ""); len(text) < maxRedactedLine && got.String() != want {
			t.Errorf("%q becomes %q", text, got.String())
		}
	})
}
