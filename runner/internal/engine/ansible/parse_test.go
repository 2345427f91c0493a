package ansible

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func TestLineWriter(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	tests := []struct {
		why     string
		writes  []string
		want    []string
		skipped int
	}{
		{"lines come as they are written", []string{"a\nb\n"}, []string{"a", "b"}, 0},
		{"a line may come in pieces", []string{"a", "b", "c\nd", "\n"}, []string{"abc", "d"}, 0},
		{"a line without an end is not complete", []string{"a\nb"}, []string{"a"}, 0},
		{"an empty line is one", []string{"\n\n"}, []string{"", ""}, 0},
		{"the longest line", []string{long, "\n"}, []string{long}, 0},
		{"one byte more is too long, the next line is not lost", []string{long, "y", "z\nnext\n"}, []string{"next"}, 1},
	}
	for _, tt := range tests {
		var got []string
		w := &lineWriter{handle: func(line []byte) { got = append(got, string(line)) }}
		for _, text := range tt.writes {
			_, _ = w.Write([]byte(text))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || w.Skipped != tt.skipped {
			t.Errorf("%s: %d skipped (-want +got):\n%s", tt.why, w.Skipped, diff)
		}
	}
}

const sampleEvent = `{"uuid":"u","counter":3,"event":"runner_on_failed","created":"2030-01-02T03:04:05.5+00:00","stdout":"fatal:",` +
	`"event_data":{"play":"p","task":"t","task_action":"command","task_path":"/a/b.yml:12","host":"localhost","changed":true,` +
	`"ignore_errors":true,"duration":1.5,"res":{"msg":"no","rc":2}}}`

func TestParseEvent(t *testing.T) {
	event, err := parseEvent([]byte(sampleEvent))
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Event{
		Time: time.Date(2030, 1, 2, 3, 4, 5, 5e8, time.UTC), Kind: engine.EventFailed, Play: "p", Task: "t", Action: "command",
		Host: "localhost", File: "/a/b.yml", Line: 12, Changed: true, Ignored: true, Duration: 1500 * time.Millisecond,
		Message: "no (rc 2)", Text: "fatal:",
	}
	if diff := cmp.Diff(want, event.progress()); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

// FuzzEventStream: whatever comes through the descriptor, there is no panic, memory is bounded, and the outcome of a
// run that failed is never a good one.
func FuzzEventStream(f *testing.F) {
	f.Add([]byte(sampleEvent + "\n"))
	f.Add([]byte(`{"event":"playbook_on_stats","event_data":{"failures":{"localhost":1},"outputs":{"chartbook":{"outcome":1}}}}` + "\n"))
	f.Add([]byte(`{"event":"playbook_on_stats","event_data":{"ok":{"localhost":1},"outputs":{"a":1e999,"b":[{}]}}}` + "\nnull\n[]\n{}\n"))
	f.Add([]byte(`{"event":"runner_on_ok","event_data":{"requeue_after":"","task_path":":"}}` + "\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		record := &recorder{progress: func(engine.Event) {}}
		w := &lineWriter{handle: record.line}
		_, _ = w.Write(stream)
		end := ending{recorder: record, root: "/"}
		classify(end)
		end.exit.Code = 2
		if got := classify(end); got.Outcome.OK() || got.Message == "" || len(got.Message) > 64<<10 {
			t.Errorf("a failed run came to %+v", got)
		}
	})
}

func TestParseStderr(t *testing.T) {
	tests := []struct {
		why, text string
		want      complaint
	}{
		{"nothing", "", complaint{}},
		{"only warnings", "[WARNING]: careful\n", complaint{text: "[WARNING]: careful"}},
		{"up to 2.18", "[WARNING]: careful\nERROR! bad thing\n\nThe error appears to be in '/a b/c.yml': line 5, column 7, but may\n" +
			"be elsewhere in the file depending on the exact syntax problem.\n", complaint{text: "bad thing", file: "/a b/c.yml", line: 5}},
		{"since 2.19", "[ERROR]: conflicting action statements: debug, fail\nOrigin: /a/c.yml:5:7\n\n3 tasks:\n4\n5     - debug: {}\n        ^ column 7\n",
			complaint{text: "conflicting action statements: debug, fail", file: "/a/c.yml", line: 5}},
		{"YAML since 2.19", "[ERROR]: YAML parsing failed: Did not find expected '-' indicator.\nOrigin: /a/c.yml:4:17\n\n",
			complaint{text: "YAML parsing failed: Did not find expected '-' indicator.", file: "/a/c.yml", line: 4}},
		{"the last error is the one that counts", "ERROR! first\nERROR! second\n", complaint{text: "second"}},
		{"a long one", "ERROR! " + strings.Repeat("x", 10000), complaint{text: strings.Repeat("x", maxFailureText-3) + "..."}},
		{"usage", "usage: ansible-playbook [-h]\n  playbook\nansible-playbook: error: unrecognized arguments: --x\n \nusage: ansible-playbook\n",
			complaint{text: "unrecognized arguments: --x", options: true}},
		{"a crash of Python", "Traceback (most recent call last):\n  File x\nImportError: no module\n", complaint{text: "ImportError: no module"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, parseStderr(tt.text), cmp.AllowUnexported(complaint{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

func FuzzParseStderr(f *testing.F) {
	f.Add("ERROR! x\n\nThe error appears to be in 'y': line 99999999999999999999, column 1")
	f.Add("[ERROR]: x\nOrigin: :0:0\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got := parseStderr(text); strings.Contains(got.text, "\n") || len(got.text) > maxFailureText {
			t.Errorf("%q", got.text)
		}
	})
}

func TestVerdict(t *testing.T) {
	tests := []struct {
		why, stat string
		want      verdict
		problem   string
	}{
		{"all of it", `{"outcome":"waiting","reason":"ForPods","message":"0\nof 3","requeueAfter":"1m"}`,
			verdict{outcome: "waiting", reason: "ForPods", message: "0 of 3", retryAfter: time.Minute}, ""},
		{"the outcome alone", `{"outcome":"permanent"}`, verdict{outcome: "permanent"}, ""},
		{"a number of seconds", `{"outcome":"waiting","requeueAfter":90}`, verdict{outcome: "waiting", retryAfter: 90 * time.Second}, ""},
		{"no mapping", `"waiting"`, verdict{}, "must be a mapping"},
		{"no outcome", `{"reason":"X"}`, verdict{}, "outcome must be waiting or permanent"},
		{"another outcome", `{"outcome":"failed"}`, verdict{}, "outcome must be waiting or permanent"},
		{"a key that is not known", `{"outcome":"waiting","retry":1}`, verdict{}, `unknown key "retry"`},
		{"a reason that a condition refuses", `{"outcome":"waiting","reason":"two words"}`, verdict{}, "reason must be one word"},
		{"a message that is no text", `{"outcome":"waiting","message":[1]}`, verdict{}, "message must be text"},
		{"a negative time", `{"outcome":"waiting","requeueAfter":"-1s"}`, verdict{}, "is no time"},
		{"a time that overflows", `{"outcome":"waiting","requeueAfter":9223372036854775807}`, verdict{}, "requeueAfter must be"},
	}
	for _, tt := range tests {
		outputs, got, err := parseOutputs(json.RawMessage(`{"chartbook":` + tt.stat + `}`))
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(verdict{})); diff != "" || outputs != nil {
			t.Errorf("%s: outputs %v (-want +got):\n%s", tt.why, outputs, diff)
		}
		if problem := fmt.Sprint(err); (err != nil) != (tt.problem != "") || !strings.Contains(problem, tt.problem) && err != nil {
			t.Errorf("%s: problem is %v, want %q", tt.why, err, tt.problem)
		}
	}
}

func TestAnnotations(t *testing.T) {
	tests := []struct {
		why        string
		annotation string
		verbosity  int
		keep       int
	}{
		{"none", "", 2, 20},
		{"a number", "3", 3, 3},
		{"zero: no v, keep all", "0", 0, 0},
		{"negative is as zero", "-4", 0, 0},
		{"no number is ignored", "many", 2, 20},
		{"a huge number is cut for the command line", "1000000", maxVerbosity, 1000000},
	}
	for _, tt := range tests {
		annotations := map[string]string{annotationVerbosity: tt.annotation, annotationMaxArtifacts: tt.annotation}
		if v, k := verbosity(annotations, 2), keepArtifacts(annotations, 20); v != tt.verbosity || k != tt.keep {
			t.Errorf("%s: %d, %d, want %d, %d", tt.why, v, k, tt.verbosity, tt.keep)
		}
	}
}

func TestCommand(t *testing.T) {
	tests := []struct {
		why  string
		call invocation
		want string
	}{
		{"the usual", invocation{inventories: []string{"/i"}, verbosity: 2}, "--extra-vars=@/v --inventory=/i -vv /p.yml"},
		{"the user's arguments come first, so that the resource's variables win",
			invocation{inventories: []string{"/i"}, extraArgs: []string{"-e", "a=b"}}, "-e a=b --extra-vars=@/v --inventory=/i /p.yml"},
		{"several inventories, and more v's than the typed options have",
			invocation{inventories: []string{"/i", "/j"}, verbosity: 6}, "--inventory=/i -vv --extra-vars=@/v --inventory=/j -vvvv /p.yml"},
	}
	for _, tt := range tests {
		tt.call.binary, tt.call.playbook, tt.call.extraVars = "/bin/ansible-playbook", "/p.yml", "/v"
		path, args, err := tt.call.command()
		if got := strings.Join(args, " "); err != nil || path != "/bin/ansible-playbook" || got != tt.want {
			t.Errorf("%s: %s %s, %v, want %s", tt.why, path, got, err, tt.want)
		}
	}
}

func TestMessages(t *testing.T) {
	code := 3
	tests := []struct {
		why  string
		task taskData
		want string
	}{
		{"nothing said: the old operator's words", taskData{}, "unknown playbook failure"},
		{"several lines", taskData{Result: taskResult{Message: "a\n  b\x1b[31m"}}, "a b [31m"},
		{"ansible-core's own reason", taskData{Result: taskResult{Reason: "r"}}, "r"},
		{"exit code and last words", taskData{Result: taskResult{Message: "m", Code: &code, Stderr: "x\ny\n\n"}}, "m (rc 3): y"},
		{"words that the message has already", taskData{Result: taskResult{Message: "m y", Stderr: "y"}}, "m y"},
		{"a module that crashed", taskData{Result: taskResult{Message: "MODULE FAILURE", ModuleStderr: "Traceback\nKeyError: 'x'\n"}},
			"MODULE FAILURE: KeyError: 'x'"},
		{"hidden", taskData{Hidden: true, Result: taskResult{Message: "m"}}, hiddenText},
		{"long, cut between characters", taskData{Result: taskResult{Message: strings.Repeat("é", 1000)}},
			strings.Repeat("é", (maxFailureText-3)/2) + "..."},
	}
	for _, tt := range tests {
		if got := failureText(tt.task); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
	many := make([]engine.Failure, maxFailures+2)
	for i := range many {
		many[i] = engine.Failure{Name: "t", Host: "web", File: "/elsewhere/x.yml", Message: "m"}
	}
	lines := strings.Split(describeAll(many, "/content"), "\n")
	if len(lines) != maxFailures+1 || lines[0] != `task "t" on web (/elsewhere/x.yml): m` || lines[maxFailures] != "and 2 more" {
		t.Errorf("lines are %q", lines)
	}
}
