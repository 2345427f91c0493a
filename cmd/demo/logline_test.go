package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const finishedLine = `{"level":"info","ts":"2030-01-02T03:04:05Z","logger":"sample","msg":"Installed release","run":"r1","kind":"Sample","namespace":"ns","name":"sample","trigger":"spec","outcome":"Changed","reason":"","duration":"1.5s"}`

func TestRunFromLog(t *testing.T) {
	want := run{ID: "r1", Kind: "Sample", Namespace: "ns", Name: "sample", Trigger: "spec", Outcome: "Changed", Duration: 1500 * time.Millisecond}
	noDuration := want
	noDuration.Duration = 0
	tests := map[string]struct {
		reason string
		line   string
		want   run
		ok     bool
	}{
		"Text":      {reason: "the usual encoding of a duration", line: finishedLine, want: want, ok: true},
		"Seconds":   {reason: "the other one", line: strings.Replace(finishedLine, `"1.5s"`, `1.5`, 1), want: want, ok: true},
		"Strange":   {reason: "a duration that is none does not hide the run", line: strings.Replace(finishedLine, `"1.5s"`, `[]`, 1), want: noDuration, ok: true},
		"Task":      {reason: "a run that is not over has no outcome", line: `{"msg":"Task","run":"r1","kind":"Sample","name":"sample","event":"ok"}`},
		"Nobody":    {reason: "a run belongs to a resource", line: `{"msg":"Run failed","run":"r1","outcome":"Permanent"}`},
		"Text only": {reason: "a crash is not JSON", line: "panic: Run failed"},
		"Null":      {reason: "valid JSON, and nothing in it", line: "null"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := parseLine(test.line).run()
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(run{})); diff != "" || ok != test.ok {
				t.Errorf("ok is %v, want %v: %s (-want +got):\n%s", ok, test.ok, test.reason, diff)
			}
		})
	}
}

func TestTelling(t *testing.T) {
	tests := map[string]struct {
		reason string
		line   string
		want   bool
	}{
		"Info":    {reason: "nothing is wrong", line: `{"level":"info","msg":"Starting"}`},
		"Error":   {reason: "what one looks for", line: `{"level":"error","msg":"Cannot start"}`, want: true},
		"Crash":   {reason: "what one looks for, too", line: "panic: nil map", want: true},
		"Empty":   {reason: "the blank lines of a crash tell nothing", line: ""},
		"GoodRun": {reason: "a run that did its work explains nothing", line: finishedLine},
		"BadRun":  {reason: "a failed run has the cause", line: strings.Replace(finishedLine, "Changed", "Transient", 1), want: true},
		"Waiting": {reason: "waiting is no failure", line: strings.Replace(finishedLine, "Changed", "Waiting", 1)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := parseLine(test.line).telling(); got != test.want {
				t.Errorf("got %v: %s", got, test.reason)
			}
		})
	}
}

func TestLogLineInShort(t *testing.T) {
	line := `{"level":"error","ts":"2030-01-02T03:04:05Z","msg":"Cannot watch","kind":"Sample","error":"forbidden","empty":"","stacktrace":"a\nb"}`
	if got, want := parseLine(line).String(), "error: Cannot watch error=forbidden kind=Sample"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzParseLine(f *testing.F) {
	for _, seed := range []string{finishedLine, "", "null", "{}", "[1]", `{"msg":1,"duration":{}}`, "\x00", `{"run":"r","kind":"k","name":"n","outcome":"o","duration":1e400}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		l := parseLine(line)
		if r, ok := l.run(); ok && l.fields == nil {
			t.Errorf("%q is run %v without fields", line, r)
		}
		_ = l.telling()
		if l.fields == nil && l.String() != line {
			t.Errorf("%q lost its text: %q", line, l)
		}
	})
}

func writeLog(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "operator.log")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func repeat(line string, n int) []string {
	return strings.Split(strings.TrimSuffix(strings.Repeat(line+"\n", n), "\n"), "\n")
}

func TestLastWords(t *testing.T) {
	info, bad := `{"level":"info","msg":"Starting"}`, `{"level":"error","msg":"Cannot start"}`
	tests := map[string]struct {
		reason string
		lines  []string
		want   []string
	}{
		"Telling": {reason: "an error is worth more than what came after", lines: []string{info, bad, info}, want: []string{"error: Cannot start"}},
		"None":    {reason: "without an error the last lines have to do", lines: repeat(info, tailLines+5), want: repeat("Starting", tailLines)},
		"Long":    {reason: "a log of any size is read from near its end", lines: append(repeat(info, tailBytes/20), bad), want: []string{"error: Cannot start"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := lastWords(writeLog(t, test.lines...))
			if err != nil {
				t.Fatal(err)
			}
			// What is read from the middle begins within a line.
			if name == "Long" && len(got) > 1 {
				got = got[len(got)-1:]
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
