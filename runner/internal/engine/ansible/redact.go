package ansible

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// redactor takes secrets out of a text. A nil one leaves all as it is.
type redactor func(string) string

func (hide redactor) text(text string) string {
	if hide == nil || text == "" {
		return text
	}
	return hide(text)
}

// event takes secrets out of what an event says to people. It comes before the texts are shortened: of a secret that is
// cut in two neither half would be found.
func (hide redactor) event(event *playEvent) {
	if hide == nil {
		return
	}
	task := &event.task
	for _, text := range []*string{
		&event.Printed, &task.Play, &task.Task, &task.Result.Message, &task.Result.Reason, &task.Result.SkipReason,
		&task.Result.Stderr, &task.Result.ModuleStderr,
	} {
		*text = hide.text(*text)
	}
	if event.recap != nil {
		event.recap.Outputs = hide.outputs(event.recap.Outputs)
	}
}

// result takes secrets out of what a run came to.
func (hide redactor) result(result *engine.Result) {
	if hide == nil {
		return
	}
	result.Message = hide.text(result.Message)
	for i := range result.Failures {
		f := &result.Failures[i]
		f.Name, f.Message = hide.text(f.Name), hide.text(f.Message)
	}
}

// structural are the fields of an event's data that programs read, and that hold no values of tasks.
var structural = map[string]bool{
	"playbook": true, "task_uuid": true, "task_action": true, "task_path": true, "host": true,
}

// eventLine returns a line of the event stream without the secrets in it. They are looked for in the texts, since their
// form in JSON may be another. A line that cannot be read is not kept.
func (hide redactor) eventLine(line []byte) []byte {
	if hide == nil {
		return line
	}
	var event map[string]any
	if decode(line, &event) != nil {
		return nil
	}
	event["stdout"] = hide.leaves(event["stdout"])
	if data, ok := event["event_data"].(map[string]any); ok {
		for key, value := range data {
			if !structural[key] {
				data[key] = hide.leaves(value)
			}
		}
	}
	clean, _ := json.Marshal(event) //nolint:errchkjson // came from JSON
	return clean
}

// outputs returns what set_stats has collected, without the secrets in its strings.
func (hide redactor) outputs(text json.RawMessage) json.RawMessage {
	var value any
	if hide == nil || decode(text, &value) != nil {
		return text
	}
	if stats, ok := value.(map[string]any); ok {
		for key, stat := range stats {
			if key != reservedStat {
				stats[key] = hide.leaves(stat)
			} else if said, ok := stat.(map[string]any); ok && said["message"] != nil { // programs read its other fields
				said["message"] = hide.leaves(said["message"])
			}
		}
	}
	clean, _ := json.Marshal(value) //nolint:errchkjson // came from JSON
	return clean
}

// leaves returns value with the secrets taken out of all strings in it but the keys of mappings.
func (hide redactor) leaves(value any) any {
	switch v := value.(type) {
	case string:
		return hide.text(v)
	case []any:
		for i := range v {
			v[i] = hide.leaves(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = hide.leaves(v[key])
		}
	}
	return value
}

func decode(text []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(value)
}

// Bounds of a line of output with a redactor, in bytes.
const (
	maxRedactedLine = 256 << 10
	maxSecret       = 8 << 10 // longer ones may be cut in two by the end of a line that is too long
	cutMark         = " [the rest of the line is left out]\n"
)

// redactedLines passes output on in whole lines, with secrets taken out of them. Without a redactor it passes on what
// comes as it comes.
type redactedLines struct {
	to      io.Writer
	hide    redactor
	pending []byte
	cut     bool // the rest of the present line is of no interest
}

// Write implements [io.Writer]; it never fails.
func (w *redactedLines) Write(p []byte) (int, error) {
	n := len(p)
	if w.hide == nil {
		_, _ = w.to.Write(p)
		return n, nil
	}
	for {
		line, rest, found := bytes.Cut(p, []byte{'\n'})
		w.keep(line)
		if !found {
			return n, nil
		}
		w.end()
		p = rest
	}
}

// keep adds a part to the present line. Of a line that is too long the beginning is passed on, but for as many bytes at
// its end as may be half of a secret.
func (w *redactedLines) keep(part []byte) {
	if w.cut {
		return
	}
	w.pending = append(w.pending, part[:min(len(part), maxRedactedLine+1)]...)
	if len(w.pending) > maxRedactedLine {
		clean := w.hide(string(w.pending))
		w.write(clean[:max(0, len(clean)-maxSecret)] + cutMark)
		w.cut = true
	}
}

func (w *redactedLines) end() {
	if !w.cut {
		w.write(w.hide(string(w.pending)) + "\n")
	}
	w.pending, w.cut = w.pending[:0], false
}

// flush passes on a last line without an end.
func (w *redactedLines) flush() {
	if !w.cut && len(w.pending) > 0 {
		w.write(w.hide(string(w.pending)))
	}
	w.pending = nil
}

func (w *redactedLines) write(text string) { _, _ = io.WriteString(w.to, text) }
