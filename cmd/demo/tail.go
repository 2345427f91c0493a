package main

import (
	"fmt"
	"io"
	"os"
)

// How much of the log is read for its last words, and how many lines of it are shown.
const (
	tailBytes = 256 << 10
	tailLines = 10
	tailWidth = 400 // characters of one line
)

// explain shows what the operator's log has to say about an error.
func (d *demo) explain(err error) {
	d.sayf("Failed: %v", err)
	path := d.path(operatorLog)
	lines, err := lastWords(path)
	switch {
	case err != nil:
		d.sayf("%v", err)
		return
	case len(lines) == 0:
		d.sayf("%s is empty", path)
		return
	}
	d.sayf("Last words of %s:", path)
	for _, line := range lines {
		d.screen.Printf("  | %s", line)
	}
}

// lastWords returns the last telling lines of a log, or simply its last lines if none is telling.
func lastWords(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := file.Seek(-tailBytes, io.SeekEnd); err != nil {
			return nil, fmt.Errorf("read the end of %s: %w", path, err)
		}
	}
	var telling, all []string
	lines := &lineWriter{line: func(line string) {
		parsed := parseLine(line)
		short := shorten(parsed.String(), tailWidth)
		all = keepLast(all, short)
		if parsed.telling() {
			telling = keepLast(telling, short)
		}
	}}
	if _, err := io.Copy(lines, io.LimitReader(file, tailBytes)); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(telling) > 0 {
		return telling, nil
	}
	return all, nil
}

func keepLast(lines []string, line string) []string {
	lines = append(lines, line)
	return lines[max(0, len(lines)-tailLines):]
}

// shorten cuts a text to so many characters, three of which then say that something is missing.
func shorten(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-3]) + "..."
}
