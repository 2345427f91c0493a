// Package redact takes secrets out of texts by their values, so that no_log need not hide why a task failed.
//
// A [Values] learns what a run has read from Secrets and takes it out of whatever leaves the run: log lines, events,
// status, artifacts. It knows a value in the forms that it takes on the way: base64, escaped for JSON or for a URL,
// line by line. What it cannot know is a value that was cut, reversed or hashed.
package redact
