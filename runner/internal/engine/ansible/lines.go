package ansible

import (
	"bytes"
	"io"
)

// maxLine bounds one line of the event stream in bytes. The plugin writes at most half of it.
const maxLine = 512 << 10

// lineWriter cuts what is written to it into lines. A line that is too long is left out.
type lineWriter struct {
	handle  func(line []byte) // gets a line without its end; must not keep it
	pending []byte
	tooLong bool // the rest of the present line is of no interest
	Skipped int  // lines left out
}

// Write implements [io.Writer]; it never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, found := bytes.Cut(p, []byte{'\n'})
		if !found {
			w.keep(p)
			return n, nil
		}
		w.end(line)
		p = rest
	}
}

func (w *lineWriter) keep(part []byte) {
	switch {
	case w.tooLong:
	case len(w.pending)+len(part) > maxLine:
		w.tooLong, w.pending = true, nil
	default:
		w.pending = append(w.pending, part...)
	}
}

func (w *lineWriter) end(part []byte) {
	w.keep(part)
	if w.tooLong {
		w.Skipped++
	} else {
		w.handle(w.pending)
	}
	w.tooLong, w.pending = false, w.pending[:0]
}

// lineEnds passes text on as a file has it: of line ends as a terminal writes them, the carriage return goes.
type lineEnds struct {
	to   io.Writer
	held bool // a carriage return, whose line end may follow
}

// Write implements [io.Writer]; it never fails.
func (w *lineEnds) Write(p []byte) (int, error) {
	n := len(p)
	if w.held && n > 0 {
		w.held = false
		if p[0] != '\n' {
			_, _ = w.to.Write([]byte{'\r'})
		}
	}
	if n > 0 && p[n-1] == '\r' {
		w.held = true
		p = p[:n-1]
	}
	if len(p) > 0 {
		_, _ = w.to.Write(bytes.ReplaceAll(p, []byte("\r\n"), []byte{'\n'}))
	}
	return n, nil
}
