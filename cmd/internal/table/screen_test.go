package table

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// terminal shows what a terminal would after the bytes that were written to it. It knows the few sequences that
// a Screen uses, and no others.
type terminal struct {
	lines []string
	y     int
}

var sequence = regexp.MustCompile(`^\x1b\[(\d*)([AJ])\r?`)

func (m *terminal) Write(data []byte) (int, error) {
	n := len(data)
	for len(data) > 0 {
		if found := sequence.FindSubmatch(data); found != nil {
			m.sequence(string(found[1]), string(found[2]))
			data = data[len(found[0]):]
			continue
		}
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if bytes.Contains(line, []byte("\x1b")) {
			return n, fmt.Errorf("unknown sequence in %q", line)
		}
		m.lines = append(m.lines[:m.y], string(line))
		m.y++
		data = rest
	}
	return n, nil
}

func (m *terminal) sequence(number, kind string) {
	switch n, _ := strconv.Atoi(number); kind {
	case "A":
		m.y = max(0, m.y-n)
	case "J":
		m.lines = m.lines[:m.y]
	}
}

// play does to a screen what a small demo does.
func play(s *Screen) {
	s.Printf("Starting")
	s.Set(Row{ID: "1", Kind: "Sample", Name: "sample"})
	s.Set(Row{ID: "2", Kind: "Database", Name: "database", Ready: "Unknown", Reason: "InProgress"})
	s.Status("waiting: the samples to be ready (1s)")
	s.Set(Row{ID: "1", Kind: "Sample", Name: "sample", Ready: "True", Reason: "Succeeded", Run: "r1"})
	s.Set(Row{ID: "1", Kind: "Sample", Name: "sample", Ready: "True", Reason: "Succeeded", Run: "r1"})
	s.Printf("Something happened\nwith %s lines\n", "\x1b[31mtwo")
	s.Remove("2")
	s.Finish()
	s.Printf("Summary")
}

func TestScreenOnTerminal(t *testing.T) {
	var m terminal
	play(New(&m, func() (int, int) { return 80, 24 }))
	golden(t, "screen-terminal", strings.Join(m.lines, "\n")+"\n")
}

func TestScreenElsewhere(t *testing.T) {
	var out strings.Builder
	play(New(&out, nil))
	golden(t, "screen-plain", out.String())
}

func TestScreenStatusIsTheLastLine(t *testing.T) {
	var m terminal
	s := New(&m, func() (int, int) { return 30, 24 })
	s.Status("waiting: something that has a long name (3s)")
	s.Set(Row{ID: "1", Kind: "Sample", Name: "sample"})
	if got, want := m.lines[len(m.lines)-1], "waiting: something that has a~"; got != want {
		t.Errorf("last line is %q, want %q", got, want)
	}
}

func TestScreenFitsALowTerminal(t *testing.T) {
	const height = 6
	var m terminal
	s := New(&m, func() (int, int) { return 80, height })
	for i := range 20 {
		s.Set(Row{ID: strconv.Itoa(i), Kind: "Sample", Name: "sample"})
		if len(m.lines) >= height {
			t.Fatalf("%d rows take %d lines of %d", i+1, len(m.lines), height)
		}
	}
	if got, want := m.lines[len(m.lines)-1], "... and 17 more"; got != want {
		t.Errorf("last line is %q, want %q", got, want)
	}
}

func TestScreenIsSafeForConcurrentUse(t *testing.T) {
	var m terminal
	s := New(&m, func() (int, int) { return 80, 100 })
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			s.Set(Row{ID: strconv.Itoa(i), Kind: "Sample", Name: strconv.Itoa(i)})
			s.Printf("line %d", i)
		})
	}
	all.Wait()
	if diff := cmp.Diff(10+1+10, len(m.lines)); diff != "" {
		t.Errorf("lines on the terminal (-want +got):\n%s", diff)
	}
}
