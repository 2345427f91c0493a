package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// meters is what an operator has counted, and the CPU time that it and all below it have used.
type meters struct {
	cpu      time.Duration
	runs     float64
	play     float64 // requests of plays
	operator float64 // requests of the operator itself
	paths    map[string]float64
}

// read reads the meters of an operator once it is at rest.
func (o *operator) read(ctx context.Context) (meters, error) {
	cpu, err := quiet(ctx, o.PID())
	if err != nil {
		return meters{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.metrics, nil)
	if err != nil {
		return meters{}, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return meters{}, fmt.Errorf("read the operator's metrics: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return meters{}, errors.New("read the operator's metrics: " + answer.Status)
	}
	m, err := parseMetrics(answer.Body)
	m.cpu = cpu
	return m, err
}

// The counters that are read.
const (
	runsTotal    = "chartbook_runs_total"
	playTotal    = "chartbook_run_api_requests_total"
	requestTotal = "rest_client_requests_total"
	pathsTotal   = "chartbook_ansible_"
)

// parseMetrics reads the text format of Prometheus.
func parseMetrics(from io.Reader) (meters, error) {
	m := meters{paths: map[string]float64{}}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		series, text, found := cutLast(lines.Text(), " ")
		if !found || strings.HasPrefix(series, "#") {
			continue
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		switch name, _, _ := strings.Cut(series, "{"); {
		case name == runsTotal:
			m.runs += value
		case name == playTotal:
			m.play += value
		case name == requestTotal:
			m.operator += value
		case strings.HasPrefix(name, pathsTotal):
			m.paths[strings.TrimPrefix(series, pathsTotal)] += value
		}
	}
	return m, lines.Err()
}

func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}

// since returns what was counted after an earlier reading.
func (m meters) since(before meters) meters {
	m.cpu -= before.cpu
	m.runs -= before.runs
	m.play -= before.play
	m.operator -= before.operator
	return m
}

// paths says which ways runs and modules took, where the operator counts them: an executor that falls back to another one
// is not what it is taken for.
func (o *operator) paths(ctx context.Context) []string {
	m, err := o.read(ctx)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", o.executor, err)}
	}
	var lines []string
	for _, series := range slices.Sorted(maps.Keys(m.paths)) {
		lines = append(lines, fmt.Sprintf("%s: %s %g", o.executor, series, m.paths[series]))
	}
	return lines
}
