package table

import (
	"os"

	"golang.org/x/term"
)

// TerminalSize returns the size of the terminal that a file is, or nil if it is none, or one that knows no escape
// sequences.
func TerminalSize(file *os.File) Size {
	fd := int(file.Fd())
	if !term.IsTerminal(fd) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return func() (columns, lines int) {
		columns, lines, err := term.GetSize(fd)
		if err != nil {
			return 0, 0
		}
		return columns, lines
	}
}
