package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which /proc tells CPU time.
const tick = 10 * time.Millisecond

// process is what /proc says of one.
type process struct {
	pid, parent int
	cpu         time.Duration // its own, and that of all descendants that have ended and were waited for
}

// tree returns a process and all that descend from it.
func tree(root int) ([]process, error) {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	children := map[int][]process{}
	var found []process
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(name, "stat"))
		if err != nil {
			continue // it has ended
		}
		p, ok := parseStat(string(text))
		if ok && p.pid == root {
			found = append(found, p)
		} else if ok {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("process %d is not there any more", root)
	}
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].pid]...)
	}
	return found, nil
}

// parseStat reads /proc/PID/stat. The program's name, in parentheses, may hold anything.
func parseStat(text string) (process, bool) {
	const parent, userTime, childrenSystemTime = 1, 11, 14 // counted from the field after the name
	end := strings.LastIndexByte(text, ')')
	fields := strings.Fields(text[end+1:])
	pid, _, found := strings.Cut(text, " ")
	if !found || end < 0 || len(fields) <= childrenSystemTime {
		return process{}, false
	}
	var p process
	var err error
	if p.pid, err = strconv.Atoi(pid); err != nil {
		return process{}, false
	}
	if p.parent, err = strconv.Atoi(fields[parent]); err != nil {
		return process{}, false
	}
	for _, field := range fields[userTime : childrenSystemTime+1] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return process{}, false
		}
		p.cpu += time.Duration(ticks) * tick
	}
	return p, true
}

// quiet waits until a tree has done nothing for a moment, and returns the CPU time that it has used.
func quiet(ctx context.Context, root int) (time.Duration, error) {
	const moment = 100 * time.Millisecond
	var before []process
	for {
		now, err := tree(root)
		if err != nil {
			return 0, err
		}
		if before != nil && slices.Equal(before, now) {
			var used time.Duration
			for _, p := range now {
				used += p.cpu
			}
			return used, nil
		}
		before = now
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(moment):
		}
	}
}

// memory returns the sum of the proportional set sizes of a tree, in bytes.
func memory(root int) (int64, error) {
	processes, err := tree(root)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, p := range processes {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "smaps_rollup"))
		if err != nil {
			continue // it has ended
		}
		sum += proportional(text)
	}
	return sum, nil
}

// proportional reads the line Pss of a smaps_rollup.
func proportional(text []byte) int64 {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "Pss:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

// watchMemory looks at the memory of a tree until ctx ends, and then tells the most that it has seen.
func watchMemory(ctx context.Context, root int) <-chan int64 {
	peak := make(chan int64, 1)
	go func() {
		var most int64
		for ctx.Err() == nil {
			now, _ := memory(root)
			most = max(most, now)
			select {
			case <-ctx.Done():
			case <-time.After(tick):
			}
		}
		peak <- most
	}()
	return peak
}
