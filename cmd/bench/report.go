package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// report is the outcome of a session.
type report struct {
	Machine   machine  `json:"machine"`
	Executors []string `json:"executors"` // the first one is what the others are compared with
	Rounds    int      `json:"rounds"`
	Rows      []row    `json:"rows"`
	Figures   figures  `json:"figures"` // all values, in the order in which they were measured
	Notes     []string `json:"notes"`
}

// row is a line of the table. The values are medians, in the order of the executors.
type row struct {
	Quantity quantity  `json:"quantity"`
	Title    string    `json:"title"`
	Values   []float64 `json:"values"`
	Ratios   []float64 `json:"ratios"` // of the first value to each
	Goal     string    `json:"goal,omitempty"`
	Reached  *bool     `json:"reached,omitempty"` // by the last executor; not told where there is no goal
}

func newReport(o options, m machine, f figures) report {
	r := report{Machine: m, Executors: o.executors, Rounds: o.rounds, Figures: f}
	for _, s := range subjects(o.load()) {
		line := row{Quantity: s.quantity, Title: s.title, Goal: s.goal.String()}
		for _, executor := range o.executors {
			value := median(f[s.quantity][executor])
			line.Values = append(line.Values, round(value))
			line.Ratios = append(line.Ratios, round(median(f[s.quantity][o.executors[0]])/value))
		}
		if s.goal != (goal{}) && !o.quick {
			reached := s.goal.reached(line.Values[0], line.Values[len(line.Values)-1])
			line.Reached = &reached
		}
		r.Rows = append(r.Rows, line)
	}
	return r
}

// round keeps four digits behind the point, which is more than is known. JSON has no NaN.
func round(value float64) float64 {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0
	}
	return math.Round(value*1e4) / 1e4
}

func (r report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755) //nolint:gosec // it is nobody's secret
	}
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // nor is the file
	}
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}

// print writes the table and what there is to say about it.
func (r report) print(out io.Writer) {
	fmt.Fprintln(out, r.Machine)
	fmt.Fprintf(out, "Medians of %d rounds, executors in turns; ratios are %s to the executor.\n\n", r.Rounds, r.Executors[0])
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "\t", strings.Join(r.Executors, "\t\t"), "\t\tgoal\t\n")
	for _, line := range r.Rows {
		fmt.Fprint(table, line.Title, "\t")
		for i, value := range line.Values {
			ratio := ""
			if i > 0 {
				ratio = fmt.Sprintf("(%.1fx)", line.Ratios[i])
			}
			fmt.Fprintf(table, "%.4g\t%s\t", value, ratio)
		}
		fmt.Fprintf(table, "%s\t%s\n", line.Goal, verdict(line.Reached))
	}
	_ = table.Flush()
	for _, note := range r.Notes {
		fmt.Fprintln(out, note)
	}
}

func verdict(reached *bool) string {
	switch {
	case reached == nil:
		return ""
	case *reached:
		return "reached"
	}
	return "MISSED"
}
