package main

import (
	"fmt"
	"math"
	"slices"
)

// quantity is something that is measured. Its name is that in the JSON file.
type quantity string

const (
	createToSuccessful quantity = "create_to_successful_seconds"
	allAtOnce          quantity = "all_at_once_seconds"
	cpuPerRun          quantity = "cpu_seconds_per_run"
	cpuPerRunAtOnce    quantity = "cpu_seconds_per_run_all_at_once"
	peakMemory         quantity = "peak_memory_mib"
	reads              quantity = "reads_seconds"
	cpuOfReads         quantity = "reads_cpu_seconds"
	playRequests       quantity = "api_requests_of_play"
	operatorRequests   quantity = "api_requests_of_operator_per_run"
	runsPerResource    quantity = "runs_per_resource"
)

// goal is what the quickest executor is to reach; the zero value is none.
type goal struct {
	fewer float64 // how many times less than the first executor
	most  float64 // the most that it may be
}

func (g goal) String() string {
	switch {
	case g.fewer > 0:
		return fmt.Sprintf("at least %gx", g.fewer)
	case g.most > 0:
		return fmt.Sprintf("at most %g", g.most)
	}
	return ""
}

// reached reports whether value is good enough, if first is that of the first executor.
func (g goal) reached(first, value float64) bool {
	return (g.fewer == 0 || first >= g.fewer*value) && (g.most == 0 || value <= g.most)
}

// subject is a row of the table.
type subject struct {
	quantity
	title string
	goal  goal
}

// subjects returns the rows of the table in their order.
func subjects(l load) []subject {
	return []subject{
		{createToSuccessful, "create to Successful, seconds", goal{fewer: 10}},
		{allAtOnce, fmt.Sprintf("the same, %d at once, seconds", l.together), goal{fewer: 10}},
		{cpuPerRun, "CPU seconds per run", goal{fewer: 10}},
		{cpuPerRunAtOnce, fmt.Sprintf("the same, %d at once", l.together), goal{fewer: 10}},
		{peakMemory, fmt.Sprintf("peak memory, %d runs at one time, MiB", l.crowd), goal{fewer: 3}},
		{reads, fmt.Sprintf("%d k8s_info tasks, seconds", l.reads), goal{most: 1.3}},
		{cpuOfReads, "the same, CPU seconds", goal{}},
		{playRequests, "API requests of a play", goal{}},
		{operatorRequests, "API requests of the operator per run", goal{}},
		{runsPerResource, "runs per resource", goal{}},
	}
}

// figures are all that was measured: of each quantity the values of each executor, oldest first.
type figures map[quantity]map[string][]float64

func (f figures) add(q quantity, executor string, value float64) {
	if f[q] == nil {
		f[q] = map[string][]float64{}
	}
	f[q][executor] = append(f[q][executor], value)
}

// median returns the middle one of values, or the mean of the two in the middle; NaN if there are none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
