package runner_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// block is a fenced block of a page.
type block struct {
	language string
	file     string // the file that it is, where the line before the block begins with its name in backquotes
	text     string
}

// command is a line of a console block that begins with $, and the lines that follow it.
type command struct {
	line string
	want []string
}

var fileName = regexp.MustCompile("^`([^` ]+\\.[^` ]+|Dockerfile)`")

// readPage returns a page of the manual, or of the repository, as text.
func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testkit.RepoRoot(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks returns the fenced blocks of a page, in order.
func blocks(page string) []block {
	var found []block
	var open *block
	before := ""
	for line := range strings.Lines(page) {
		bare := strings.TrimSpace(line)
		switch {
		case open == nil && strings.HasPrefix(bare, "```"):
			open = &block{language: strings.TrimPrefix(bare, "```")}
			if name := fileName.FindStringSubmatch(before); name != nil {
				open.file = name[1]
			}
		case open != nil && bare == "```":
			found, open, before = append(found, *open), nil, ""
		case open != nil:
			open.text += line
		case bare != "":
			before = bare
		}
	}
	return found
}

// commands returns what a console block has to do and to show.
func (b block) commands() []command {
	var list []command
	for line := range strings.Lines(b.text) {
		line = strings.TrimRight(line, " \n")
		if call, ok := strings.CutPrefix(line, "$ "); ok {
			list = append(list, command{line: call})
		} else if len(list) > 0 {
			last := &list[len(list)-1]
			last.want = append(last.want, line)
		}
	}
	return list
}

// table returns the cells of the first table below a heading, without its first two lines and without backquotes.
func table(t *testing.T, page, heading string) [][]string {
	t.Helper()
	_, below, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("there is no heading %q", heading)
	}
	var rows [][]string
	for line := range strings.Lines(below) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 || strings.HasPrefix(line, "#") {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i, cell := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), "`", "")
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("there is no table below %q", heading)
	}
	return rows[2:]
}

// words splits a command line at blanks outside single quotes, and takes the quotes away.
func words(line string) []string {
	var list []string
	word, begun, quoted := "", false, false
	for _, r := range line + " " {
		switch {
		case r == '\'':
			begun, quoted = true, !quoted
		case r != ' ' || quoted:
			word, begun = word+string(r), true
		case begun:
			list = append(list, word)
			word, begun = "", false
		}
	}
	return list
}
