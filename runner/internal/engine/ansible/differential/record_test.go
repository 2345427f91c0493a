package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// record is all that comes out of one run.
type record struct {
	result    engine.Result
	code      string
	events    []any // what callbacks got, and then what the engine heard of it; decoded from JSON
	stdout    string
	stderr    string
	files     []string // left behind, changed or gone
	processes []string // left behind
	uuids     []string // of tasks, as they were
}

// readEvents reads the file that the recording callback has written.
func readEvents(t *testing.T, path string) (events []any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil // the play did not begin
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		event := decodeEvent(t, line)
		if fault := event["fault"]; fault != nil {
			t.Errorf("the recording callback failed: %v", fault)
		}
		events = append(events, event)
	}
	return events
}

// engineEvents reads the events that the engine has kept, in their order.
func (l *lane) engineEvents(t *testing.T, job engine.Job) (events []any) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(l.artifacts(job), "job_events", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(paths, func(a, b string) int { return number(a) - number(b) })
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		event := decodeEvent(t, line)
		delete(event, "counter") // the order tells
		delete(event, "uuid")    // each has one of its own
		events = append(events, event)
	}
	return events
}

// number returns the number with which the name of a file begins.
func number(path string) (n int) {
	_, _ = fmt.Sscanf(filepath.Base(path), "%d-", &n)
	return n
}

func decodeEvent(t *testing.T, line []byte) (event map[string]any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&event); err != nil {
		t.Fatalf("read an event: %v: %s", err, line)
	}
	return event
}

// normal returns the record with all that differs between any two runs replaced: see variants. constants are values
// that were made for this run, with their names.
func (r record) normal(constants map[string]string) record {
	r.uuids = taskUUIDs(r.events)
	n := normalizer{constants: constants, uuids: map[string]string{}}
	for i, event := range r.events {
		r.events[i] = n.value("", event)
	}
	r.stdout, r.stderr = n.text(r.stdout), n.text(r.stderr)
	for i, line := range r.files {
		r.files[i] = brief(n.text(line))
	}
	for i, line := range r.processes {
		r.processes[i] = n.text(line)
	}
	slices.Sort(r.files)
	r.result.Message = n.text(r.result.Message)
	for i := range r.result.Failures {
		r.result.Failures[i].Message = n.text(r.result.Failures[i].Message)
	}
	if r.result.Outputs != nil {
		r.result.Outputs, _ = n.value("", r.result.Outputs).(map[string]any)
	}
	return r
}

// sections returns the record as texts that can be compared.
func (r record) sections(unordered bool) map[string]string {
	if unordered {
		r = r.ordered()
	}
	events := make([]string, 0, len(r.events))
	for _, event := range r.events {
		events = append(events, readable(event))
	}
	return map[string]string{
		"result":    r.ending(),
		"events":    strings.Join(events, "\n"),
		"stdout":    r.stdout,
		"stderr":    r.stderr,
		"files":     strings.Join(r.files, "\n"),
		"processes": strings.Join(r.processes, "\n"),
	}
}

// ending describes the result but for what is measured.
func (r record) ending() string {
	result := r.result
	result.Started, result.Finished, result.MaxRSSBytes, result.Processes = time.Time{}, time.Time{}, 0, 0
	result.Executor, result.Fallback, result.Modules = "", "", nil
	if result.Stats != nil {
		stats := *result.Stats
		stats.Completed = time.Time{}
		result.Stats = &stats
	}
	return "exit code " + r.code + "\n" + readable(result)
}

// readable returns a value as JSON of many lines.
func readable(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return text.String()
}

// differences tells in which sections two records differ, and how.
func differences(a, b record, unordered bool) map[string]string {
	found := map[string]string{}
	one, other := a.sections(unordered), b.sections(unordered)
	for name, text := range one {
		if text != other[name] {
			found[name] = cmp.Diff(strings.Split(text, "\n"), strings.Split(other[name], "\n"))
		}
	}
	return found
}

// ordered returns the record of a run whose hosts do not wait for each other, brought into one order. What the engine heard
// holds what was printed in between, which is left out; ids, which are numbered in the order of their appearance, are all alike.
func (r record) ordered() record {
	r = r.without(nil)
	replace(&r, uuidNumber, "<uuid>")
	for _, event := range r.events {
		if fields, ok := event.(map[string]any); ok {
			delete(fields, "stdout")
		}
	}
	slices.SortStableFunc(r.events, func(a, b any) int {
		host := hostOf(a)
		if host == "" && hostOf(b) == "" {
			return strings.Compare(readable(a), readable(b))
		}
		return strings.Compare(host, hostOf(b))
	})
	r.stdout, r.stderr = sortedLines(r.stdout), sortedLines(r.stderr)
	return r
}

// sortedLines returns the lines of a text, each once: the name of a task is printed whenever another host's was in between.
func sortedLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

func hostOf(event any) string {
	object, _ := event.(map[string]any)
	args, _ := object["args"].([]any)
	for _, arg := range append(args, object["event_data"]) {
		if fields, ok := arg.(map[string]any); ok {
			if host, ok := fields["host"].(string); ok {
				return host
			}
		}
	}
	return ""
}
