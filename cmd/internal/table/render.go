package table

import (
	"strings"
	"unicode/utf8"
)

const (
	gap      = 2 // spaces between columns
	minWidth = 8 // what a column keeps when the terminal is narrow
)

// Render returns the header and one line for each row. Columns are as wide as they need to be; where that is more
// than width, the widest ones are cut. A width of zero or less means no limit.
func Render(rows []Row, width int) []string {
	grid := [][]string{header}
	for _, row := range rows {
		grid = append(grid, row.cells())
	}
	widths := fit(naturalWidths(grid), width)
	lines := make([]string, len(grid))
	for i, cells := range grid {
		lines[i] = cut(line(cells, widths), width)
	}
	return lines
}

func naturalWidths(grid [][]string) []int {
	widths := make([]int, len(header))
	for _, cells := range grid {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// fit narrows the widest column, again and again, until the line fits or nothing can be narrowed further.
func fit(widths []int, width int) []int {
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; width > 0 && total > width; total-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= minWidth {
			break
		}
		widths[widest]--
	}
	return widths
}

// line joins cells, each padded or cut to its column; the last one is not padded.
func line(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		cell = cut(cell, widths[i])
		b.WriteString(cell)
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+gap))
		}
	}
	return b.String()
}

// cut shortens a text to width characters, the last of which then says that something is missing.
func cut(text string, width int) string {
	if width <= 0 || utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "~"
}
