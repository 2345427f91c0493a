package main

import (
	"bytes"
	"strings"
	"sync"
)

// maxLine is the longest line that is kept; the rest of a longer one is dropped.
const maxLine = 64 << 10

// lineWriter hands on what is written to it line by line, without the line ends.
type lineWriter struct {
	line    func(string)
	pending []byte
}

// Write never fails.
func (w *lineWriter) Write(data []byte) (int, error) {
	n := len(data)
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			w.keep(data)
			return n, nil
		}
		w.keep(data[:i])
		w.line(string(w.pending))
		w.pending = w.pending[:0]
		data = data[i+1:]
	}
}

func (w *lineWriter) keep(data []byte) {
	w.pending = append(w.pending, data[:min(len(data), maxLine-len(w.pending))]...)
}

// firstLine tells when the first line was written to it, and drops everything.
type firstLine struct {
	seen chan struct{}
	once sync.Once
}

func newFirstLine() *firstLine { return &firstLine{seen: make(chan struct{})} }

// Write never fails.
func (w *firstLine) Write(data []byte) (int, error) {
	if bytes.IndexByte(data, '\n') >= 0 {
		w.once.Do(func() { close(w.seen) })
	}
	return len(data), nil
}

// lastLine returns the last line of an output that has text in it.
func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
