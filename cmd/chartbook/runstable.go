package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chartbook-operator/chartbook/runner"
)

// runsTable prints runs. Columns keep their width from one print to the next, and grow when they have to.
type runsTable struct {
	out    io.Writer
	wide   bool
	widths []int
}

var (
	runsHeader = []string{"RUN", "KIND", "NAMESPACE/NAME", "TRIGGER", "EXECUTOR", "STARTED", "DURATION", "OUTCOME", "REASON"}
	wideHeader = []string{"GENERATION", "ATTEMPT", "WAITED", "TASKS", "MODULES", "REQUESTS", "WHY"}
)

func newRunsTable(out io.Writer, wide bool) *runsTable { return &runsTable{out: out, wide: wide} }

// show prints the runs as they are now, below a header if there was none yet.
func (t *runsTable) show(runs []runner.RunRecord, now time.Time) error {
	var rows [][]string
	if t.widths == nil {
		header := runsHeader
		if t.wide {
			header = append(slices.Clip(header), wideHeader...)
		}
		t.widths = make([]int, len(header))
		rows = append(rows, header)
	}
	for _, r := range runs {
		rows = append(rows, t.row(r, now))
	}
	for _, row := range rows {
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			text.WriteString(cell)
			if i < len(row)-1 {
				text.WriteString(strings.Repeat(" ", t.widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		text.WriteByte('\n')
	}
	_, err := io.WriteString(t.out, text.String())
	return err
}

func (t *runsTable) row(r runner.RunRecord, now time.Time) []string {
	row := []string{
		r.ID, r.Kind, namespaceAndName(r), string(r.Trigger), executorOf(r), momentText(startOf(r)), durationText(r, now),
		outcomeOf(r), reasonOf(r),
	}
	if t.wide {
		row[1] = kindAndGroup(r)
		row = append(row, positive(int(r.Generation)), positive(r.Attempt), secondsText(r.WaitSeconds), tasksOf(r), modulesOf(r),
			positive(r.Requests), r.Why)
	}
	for i, cell := range row {
		row[i] = orDash(cell)
	}
	return row
}

func namespaceAndName(r runner.RunRecord) string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

func kindAndName(r runner.RunRecord) string { return printable(r.Kind + " " + namespaceAndName(r)) }

// executorOf names what carried a run out, and why it was not what was asked for.
func executorOf(r runner.RunRecord) string {
	switch {
	case r.Executor == "":
		return r.Asked
	case r.Fallback != "":
		return r.Executor + "(" + r.Fallback + ")"
	}
	return r.Executor
}

// startOf is when a run began or is planned; zero if it waits or never began.
func startOf(r runner.RunRecord) time.Time {
	if r.State == runner.RunPlanned {
		return r.Due
	}
	return r.Started
}

func momentText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.RFC3339)
}

// durationText says how long a run took, takes or waits.
func durationText(r runner.RunRecord, now time.Time) string {
	from, to := r.Started, r.Finished
	switch r.State {
	case runner.RunQueued:
		from, to = r.Due, now
	case runner.RunRunning:
		to = now
	default: // it has ended, or is not due
	}
	if from.IsZero() || to.Before(from) {
		return ""
	}
	return roughly(to.Sub(from))
}

// roughly writes a duration with three digits or so.
func roughly(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func secondsText(seconds float64) string {
	if seconds < 0.001 {
		return ""
	}
	return roughly(time.Duration(seconds * float64(time.Second)))
}

// outcomeOf is the outcome of a run, or else its state.
func outcomeOf(r runner.RunRecord) string {
	if r.Outcome != "" {
		return string(r.Outcome)
	}
	return strings.ToUpper(string(r.State[:1])) + string(r.State[1:])
}

// reasonOf is why a run was not good, or what it waits for.
func reasonOf(r runner.RunRecord) string {
	if r.State == runner.RunQueued {
		return string(r.WaitsFor)
	}
	return r.Reason
}

func tasksOf(r runner.RunRecord) string {
	if r.Tasks == nil {
		return ""
	}
	return fmt.Sprintf("ok=%d,changed=%d,skipped=%d,failed=%d", r.Tasks.OK, r.Tasks.Changed, r.Tasks.Skipped, r.Tasks.Failed)
}

// modulesOf counts modules by the way that they took.
func modulesOf(r runner.RunRecord) string {
	var parts []string
	for _, path := range slices.Sorted(maps.Keys(r.Modules)) {
		parts = append(parts, path+"="+strconv.Itoa(r.Modules[path]))
	}
	return strings.Join(parts, ",")
}

func positive(n int) string {
	if n < 1 {
		return ""
	}
	return strconv.Itoa(n)
}
