package table

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Row is one resource.
type Row struct {
	// ID tells rows apart; it is not shown.
	ID string
	// Kind and Name say which resource it is.
	Kind, Name string
	// Ready is the status of its condition Ready: True, False or Unknown; empty while nothing is known.
	Ready string
	// Reason is one word for what is going on, empty if there is none.
	Reason string
	// Run is the id of the last run that ended, empty before the first.
	Run string
	// Duration is how long that run took; shown in seconds, and only beside a run.
	Duration time.Duration
}

// nothing stands in cells that have no value.
const nothing = "-"

var header = []string{"KIND", "NAME", "READY", "REASON", "RUN", "DURATION"}

// cells returns the texts of a row, in the order of the header.
func (r Row) cells() []string {
	duration := nothing
	if r.Run != "" {
		duration = Seconds(r.Duration)
	}
	return []string{clean(r.Kind), clean(r.Name), clean(r.Ready), clean(r.Reason), clean(r.Run), duration}
}

// Seconds writes a duration in seconds, with one decimal.
func Seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

// clean makes a text of the cluster fit for a cell.
func clean(text string) string {
	if text == "" {
		return nothing
	}
	return Printable(text)
}

// Printable makes a text safe to print: what the cluster holds may have been written by anybody, escape sequences
// included. Whatever moves the cursor becomes a question mark, line ends too.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}
