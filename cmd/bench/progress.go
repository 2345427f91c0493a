package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progress tells what is being done: on a terminal in one line, elsewhere line by line.
type progress struct {
	to       io.Writer
	terminal bool
	begun    time.Time
}

func newProgress(to *os.File) *progress {
	return &progress{to: to, terminal: term.IsTerminal(int(to.Fd())), begun: time.Now()}
}

// sayf tells what comes next.
func (p *progress) sayf(format string, args ...any) {
	line := fmt.Sprintf("[%4.0f s] ", time.Since(p.begun).Seconds()) + fmt.Sprintf(format, args...)
	if p.terminal {
		fmt.Fprintf(p.to, "\r\x1b[K%s", line)
		return
	}
	fmt.Fprintln(p.to, line)
}

// clear takes the line away.
func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
