package table

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Escape sequences that every terminal of today knows.
const (
	eraseDown = "\x1b[J"
	lineUp    = "\x1b[%dA\r"
)

// plainWidths are the columns where lines are printed one by one, long before the widest is known.
var plainWidths = []int{16, 22, 7, 20, 10, 8}

// Size tells how many columns and lines the terminal has at the moment.
type Size func() (columns, lines int)

// Screen shows rows in the order in which they came. It is safe for use by several goroutines. Errors of the writer
// are dropped: whoever looks at the table does not look any more.
type Screen struct {
	out  io.Writer
	size Size

	mu      sync.Mutex
	rows    []Row
	status  string
	drawn   int  // lines of the table that are on the terminal
	started bool // the header was printed; elsewhere than on a terminal
}

// New returns an empty screen that writes to out. A nil size means that out is no terminal.
func New(out io.Writer, size Size) *Screen { return &Screen{out: out, size: size} }

// Set adds a row, or changes the one that has its ID.
func (s *Screen) Set(row Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.rows, func(r Row) bool { return r.ID == row.ID })
	switch {
	case i < 0:
		s.rows = append(s.rows, row)
	case s.rows[i] == row:
		return
	default:
		s.rows[i] = row
	}
	if s.size == nil {
		s.printRow(row)
		return
	}
	s.draw("")
}

// Remove takes a row away.
func (s *Screen) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = slices.DeleteFunc(s.rows, func(r Row) bool { return r.ID == id })
	s.draw("")
}

// Printf prints one line or more, above the table.
func (s *Screen) Printf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.Split(strings.TrimSuffix(fmt.Sprintf(format, args...), "\n"), "\n")
	for i, l := range lines {
		lines[i] = Printable(l)
	}
	text := strings.Join(lines, "\n") + "\n"
	if s.size == nil {
		s.write(text)
		return
	}
	s.draw(text)
}

// Status shows one line below the table, in place of the one before; the empty one takes it away. Only a terminal
// shows it.
func (s *Screen) Status(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == text {
		return
	}
	s.status = text
	s.draw("")
}

// Finish draws the table for the last time and lets go of it: it stays where it is, and what follows is printed
// below.
func (s *Screen) Finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = ""
	s.draw("")
	s.rows, s.drawn, s.started = nil, 0, false
}

// printRow prints one row, and the header before the first.
func (s *Screen) printRow(row Row) {
	text := ""
	if !s.started {
		s.started = true
		text = line(header, plainWidths) + "\n"
	}
	cells := row.cells()
	widths := slices.Clone(plainWidths)
	for i, width := range naturalWidths([][]string{cells}) {
		widths[i] = max(widths[i], width)
	}
	s.write(text + line(cells, widths) + "\n")
}

// draw replaces the table on the terminal, with text above it, in one write so that nothing flickers.
func (s *Screen) draw(text string) {
	if s.size == nil {
		return
	}
	columns, height := s.size()
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, lineUp, s.drawn)
	}
	b.WriteString(eraseDown)
	b.WriteString(text)
	lines := s.lines(columns, height)
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	s.drawn = len(lines)
	s.write(b.String())
}

// lines returns what belongs on the terminal now: no more than it has lines, since the cursor cannot go up further.
func (s *Screen) lines(columns, height int) []string {
	var lines []string
	if len(s.rows) > 0 {
		lines = Render(s.rows, columns)
	}
	room := height - 1 // the last line is the cursor's
	if s.status != "" {
		room--
	}
	if height > 0 && len(lines) > room {
		keep := max(0, room-1)
		lines = append(lines[:keep:keep], cut(fmt.Sprintf("... and %d more", len(lines)-keep), columns))
	}
	if s.status != "" {
		lines = append(lines, cut(clean(s.status), columns))
	}
	return lines
}

func (s *Screen) write(text string) { _, _ = io.WriteString(s.out, text) }
