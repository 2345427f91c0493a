package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// logLine is one line of the operator's log.
type logLine struct {
	level, message string
	fields         map[string]any // everything else but the time
}

// parseLine reads a line of JSON. What is no JSON object, such as the trace of a crash, becomes the message.
func parseLine(line string) logLine {
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil || fields == nil {
		return logLine{message: line}
	}
	var l logLine
	l.level, _ = fields["level"].(string)
	l.message, _ = fields["msg"].(string)
	for _, key := range []string{"level", "msg", "ts", "stacktrace", "caller"} {
		delete(fields, key)
	}
	l.fields = fields
	return l
}

// run returns the run that the line is about, if it is the one that sums a run up. Its message differs; what it has
// and no other line has is an outcome.
func (l logLine) run() (run, bool) {
	r := run{ID: l.text("run"), Kind: l.text("kind"), Namespace: l.text("namespace"), Name: l.text("name"),
		Trigger: l.text("trigger"), Outcome: l.text("outcome"), Reason: l.text("reason"),
		Duration: l.duration("duration")}
	if r.ID == "" || r.Kind == "" || r.Name == "" || r.Outcome == "" {
		return run{}, false
	}
	return r, true
}

func (l logLine) text(key string) string {
	text, _ := l.fields[key].(string)
	return text
}

// duration reads a text like 1.5s, or a number of seconds.
func (l logLine) duration(key string) time.Duration {
	switch value := l.fields[key].(type) {
	case float64:
		return time.Duration(value * float64(time.Second))
	case string:
		d, _ := time.ParseDuration(value)
		return d
	}
	return 0
}

// telling reports whether somebody who asks why the operator does not work should see the line.
func (l logLine) telling() bool {
	if r, ok := l.run(); ok {
		return !r.succeeded() && r.Outcome != "Waiting"
	}
	return l.fields == nil && l.message != "" || slices.Contains([]string{"warn", "error", "dpanic", "panic", "fatal"}, l.level)
}

// String returns the line in short, for people.
func (l logLine) String() string {
	parts := []string{l.message}
	if l.level != "" && l.level != "info" {
		parts = []string{l.level + ":", l.message}
	}
	for _, key := range slices.Sorted(maps.Keys(l.fields)) {
		if value := fmt.Sprint(l.fields[key]); value != "" {
			parts = append(parts, key+"="+value)
		}
	}
	return strings.Join(parts, " ")
}
