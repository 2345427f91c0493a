package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// summary returns the last lines of a demo.
func (d *demo) summary() string {
	return summaryText(len(d.samples), d.runs, d.results, d.path(operatorLog), time.Since(d.started))
}

func summaryText(samples int, runs *runLog, results []stepResult, log string, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nSummary\n")
	fmt.Fprintf(&b, "  resources  %d\n", samples)
	fmt.Fprintf(&b, "  runs       %s\n", runs)
	for i, r := range results {
		label := "     "
		if i == 0 {
			label = "steps"
		}
		fmt.Fprintf(&b, "  %s      %-52s %8s\n", label, r.title, r.conclusion())
	}
	fmt.Fprintf(&b, "  log        %s\n", log)
	fmt.Fprintf(&b, "  time       %s", seconds(took))
	return b.String()
}

func (r stepResult) conclusion() string {
	if r.err != nil {
		return "failed"
	}
	return seconds(r.took)
}

// String tells how many runs there were, and what they came to.
func (l *runLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var outcomes []string
	for _, outcome := range slices.Sorted(maps.Keys(l.outcomes)) {
		outcomes = append(outcomes, fmt.Sprintf("%d %s", l.outcomes[outcome], outcome))
	}
	text := fmt.Sprintf("%d in %s of work", l.total, seconds(l.spent))
	if len(outcomes) > 0 {
		text += ": " + strings.Join(outcomes, ", ")
	}
	return text
}
