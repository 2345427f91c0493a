package ansible

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Bounds of texts that end up in status, in bytes.
const (
	maxFailureText = 800
	maxStderrText  = 300
	maxFailures    = 10 // lines of a result's message
)

// positionText is how ansible-core begins to tell where an error is, up to 2.18.
const positionText = "The error appears to be in "

// What is said where a task says nothing. The second is the old operator's wording.
const (
	hiddenText = "the output is hidden by no_log"
	silentText = "unknown playbook failure"
)

// failureText returns why a task failed, on one line.
func failureText(task taskData) string {
	result := task.Result
	said, _, _ := strings.Cut(result.Message, "\n\n"+positionText) // the place is told elsewhere
	text := oneLine(readable(said))
	switch {
	case task.Hidden:
		return hiddenText
	case text == "" && result.Reason != "":
		text = oneLine(result.Reason)
	case text == "":
		text = silentText
	}
	if result.Code != nil && *result.Code != 0 {
		text = fmt.Sprintf("%s (rc %d)", text, *result.Code)
	}
	if last := lastLine(result.Stderr + "\n" + result.ModuleStderr); last != "" && !strings.Contains(text, last) {
		text += ": " + shorten(last, maxStderrText)
	}
	return shorten(text, maxFailureText)
}

// describe returns one line about a failure: task, place, reason. Files below root are named relative to it.
func describe(f engine.Failure, root string) string {
	var b strings.Builder
	if f.Name != "" {
		fmt.Fprintf(&b, "task %q", f.Name)
	}
	if f.Host != "" && f.Host != localhost {
		b.WriteString(" on " + f.Host)
	}
	if f.File != "" {
		fmt.Fprintf(&b, " (%s)", place(f.File, f.Line, root))
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	return strings.TrimSpace(b.String() + f.Message)
}

// describeAll returns a line for each failure, the later ones of many left out.
func describeAll(failures []engine.Failure, root string) string {
	var lines []string
	for i, f := range failures {
		if i == maxFailures {
			lines = append(lines, fmt.Sprintf("and %d more", len(failures)-i))
			break
		}
		lines = append(lines, describe(f, root))
	}
	return strings.Join(lines, "\n")
}

func place(file string, line int, root string) string {
	if relative, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(relative) {
		file = relative
	}
	if line > 0 {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return file
}

// oneLine joins the lines of a text and takes out what a terminal would act on.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// lastLine returns the last line that is not empty, which in most programs' errors says most.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return oneLine(lines[len(lines)-1])
}

// shorten cuts a text to a number of bytes and says so.
func shorten(text string, limit int) string {
	const mark = "..."
	if len(text) <= limit {
		return text
	}
	cut := limit - len(mark)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark
}
