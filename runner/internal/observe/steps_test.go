package observe

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Steps as AO 4.6 has them. That ignored failures were logged as errors, and debug tasks with their full name not seen,
// were defects of the old tool.
// Covers UP I1.
func TestStepsOfAPlay(t *testing.T) {
	step := func(kind engine.EventKind, action string) engine.Event {
		return engine.Event{Kind: kind, Task: "Do it", Action: action, Host: "localhost", Text: "some text"}
	}
	ignored := step(engine.EventFailed, "command")
	ignored.Ignored = true
	silent := step(engine.EventSkipped, "command")
	silent.Text = ""
	type logged struct {
		Message string // empty: not logged
		Failed  bool
		Text    bool
	}
	no, started := logged{}, logged{Message: "[playbook task start]"}
	for name, c := range map[string]struct {
		reason                     string
		event                      engine.Event
		tasks, verbose, everything logged
	}{
		"Start":        {"where a play hangs is the task that has started last", step(engine.EventTaskStarted, "command"), started, logged{started.Message, false, true}, logged{started.Message, false, true}},
		"DebugStart":   {"its end says all", step(engine.EventTaskStarted, "debug"), no, logged{started.Message, false, true}, logged{started.Message, false, true}},
		"DebugFQCN":    {"as above, by its full name", step(engine.EventTaskStarted, "ansible.builtin.debug"), no, logged{started.Message, false, true}, logged{started.Message, false, true}},
		"FactStart":    {"facts are no news", step(engine.EventTaskStarted, "ansible.builtin.set_fact"), no, logged{started.Message, false, true}, logged{started.Message, false, true}},
		"ReleaseStart": {"charts start what they end at once", engine.Event{Kind: engine.EventTaskStarted, Task: "install"}, no, no, logged{"Task", false, false}},
		"OK":           {"its duration is known at its end", step(engine.EventOK, "command"), logged{"Task", false, false}, logged{"Task", false, true}, logged{"Task", false, true}},
		"Debug":        {"what it prints is the point", step(engine.EventOK, "debug"), logged{"[playbook debug]", false, true}, logged{"[playbook debug]", false, true}, logged{"[playbook debug]", false, true}},
		"DebugName":    {"by its full name too", step(engine.EventOK, "ansible.builtin.debug"), logged{"[playbook debug]", false, true}, logged{"[playbook debug]", false, true}, logged{"[playbook debug]", false, true}},
		"OthersDebug":  {"somebody's own module of that name is not it", step(engine.EventOK, "my.own.debug"), logged{"Task", false, false}, logged{"Task", false, true}, logged{"Task", false, true}},
		"Fact":         {"facts are no news", step(engine.EventOK, "set_fact"), no, logged{"Task", false, true}, logged{"Task", false, true}},
		"Item":         {"items of a loop have their text", step(engine.EventItem, "command"), logged{"Task", false, true}, logged{"Task", false, true}, logged{"Task", false, true}},
		"Failed":       {"an error, with all it says", step(engine.EventFailed, "command"), logged{"[playbook task failed]", true, true}, logged{"[playbook task failed]", true, true}, logged{"[playbook task failed]", true, true}},
		"Ignored":      {"an ignored failure is no error", ignored, logged{"[playbook task failed]", false, true}, logged{"[playbook task failed]", false, true}, logged{"[playbook task failed]", false, true}},
		"Unreachable":  {"a host that is not there fails the run, too", step(engine.EventUnreachable, "command"), logged{"[playbook task failed]", true, true}, logged{"[playbook task failed]", true, true}, logged{"[playbook task failed]", true, true}},
		"Skipped":      {"what was not done is not logged unless asked for", step(engine.EventSkipped, "command"), no, logged{"Task", false, true}, logged{"Task", false, true}},
		"Silent":       {"verbose logs what is printed, and nothing else besides", silent, no, no, logged{"Task", false, false}},
		"Recap":        {"the line that sums the run up has it", step(engine.EventStats, ""), no, logged{"Task", false, true}, logged{"Task", false, true}},
		"Note":         {"a warning", engine.Event{Kind: engine.EventNote, Message: "careful"}, logged{"Task", false, false}, logged{"Task", false, false}, logged{"Task", false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			for mode, want := range map[string]logged{"nothing": no, "tasks": c.tasks, "verbose": c.verbose, "everything": c.everything} {
				steps := Steps{Level: StepLevel(mode)}
				if mode == "verbose" {
					steps.Level = StepsTasks
				}
				line, ok := steps.Line(c.event, mode == "verbose")
				got := logged{line.Message, line.Failed, strings.Contains(strings.Join(keys(line), ","), "text")}
				if ok != (want.Message != "") || got != want {
					t.Errorf("%s: at %s got %+v, want %+v", c.reason, mode, got, want)
				}
			}
		})
	}
}

func keys(line Line) []string {
	var keys []string
	for i := 0; i < len(line.KeysAndValues); i += 2 {
		keys = append(keys, line.KeysAndValues[i].(string))
	}
	return keys
}

func TestStepLine(t *testing.T) {
	e := engine.Event{
		Kind: engine.EventOK, Play: "all", Task: "Do it", Action: "debug", Host: "localhost", File: "/p/main.yml", Line: 3, Changed: true,
		Duration: 1234567 * time.Microsecond, Message: "done", Text: "\n\x1b[0;32mok: {\n  1\n}\x1b[0m\n",
	}
	line, _ := Steps{}.Line(e, false)
	var got string
	line.Log(funcr.NewJSON(func(s string) { got = s }, funcr.Options{}))
	want := `{"logger":"","level":0,"msg":"[playbook debug]","event":"ok","play":"all","task":"Do it","action":"debug","host":"localhost",` +
		`"file":"/p/main.yml:3","changed":true,"duration":"1.235s","message":"done","text":"ok: {\n  1\n}"}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	e.Text = strings.Repeat("x", 1<<20)
	line, _ = Steps{}.Line(e, false)
	if text := line.KeysAndValues[len(line.KeysAndValues)-1].(string); len(text) > maxText {
		t.Errorf("the text of a step has %d bytes", len(text))
	}
}

func TestVerboseFor(t *testing.T) {
	for name, c := range map[string]struct {
		reason     string
		operator   bool
		annotation string
		want       bool
	}{
		"Neither":    {"quiet by default", false, "", false},
		"Operator":   {"ANSIBLE_VERBOSITY is for all", true, "", true},
		"Resource":   {"the annotation is for one", false, "4", true},
		"Zero":       {"zero says nothing, as in the old tool", true, "0", true},
		"NotANumber": {"and so does what is no number", false, "loud", false},
	} {
		t.Run(name, func(t *testing.T) {
			annotations := map[string]string{VerbosityAnnotation: c.annotation}
			if got := (Steps{Verbose: c.operator}).VerboseFor(annotations); got != c.want {
				t.Errorf("%s: got %v, want %v", c.reason, got, c.want)
			}
		})
	}
}

// Secrets are taken out before texts are cut, or the beginning of one would be left at the cut.
func TestNoHalfOfASecretIsLeft(t *testing.T) {
	redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	edge := strings.Repeat("x", maxText-5) + "hunter2" + strings.Repeat("y", 20)
	line, _ := Steps{}.Line(RedactedStep(engine.Event{Kind: engine.EventFailed, Task: "hunter2", Message: "hunter2", Text: edge}, redact), false)
	run := Run{Result: engine.Result{Outcome: engine.Permanent, Message: strings.Repeat("x", maxNote-6) + "hunter2"}}
	summary := Summarize(run.Redacted(redact))
	event := Event{Note: "hunter2"}.Redacted(redact)
	for _, text := range append(texts(line, summary), event.Note) {
		if strings.Contains(text, "hunt") {
			t.Errorf("%q has a part of the secret", text)
		}
	}
	if RedactedStep(engine.Event{Text: "a"}, nil).Text != "a" || run.Redacted(nil).Result.Message == "" {
		t.Errorf("without secrets something was taken out")
	}
}

func texts(lines ...Line) []string {
	var texts []string
	for _, line := range lines {
		for _, value := range line.KeysAndValues {
			if text, ok := value.(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return texts
}
