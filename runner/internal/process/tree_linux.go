package process

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// relative is a living process that belongs to a run.
type relative struct {
	pid, parent, group int
	started            uint64 // clock ticks since boot; with pid it identifies a process
	zombie             bool
}

// still reports whether the process is the one that was seen.
func (p relative) still() bool {
	now, ok := readProcess(p.pid)
	return ok && now.started == p.started
}

// living returns the living processes of the run: those whose chain of parents leads to the leader, its group, and those
// that carry the mark in the environment they were started with.
func (m members) living() []relative {
	byID := m.byID()
	rest := livingSince(m.leader.started)
	belongs := map[int]bool{}
	if byID {
		belongs[m.leader.pid] = true
	}
	for _, p := range rest {
		if byID && p.group == m.leader.pid || hasMark(p.pid, m.mark) {
			belongs[p.pid] = true
		}
	}
	return family(rest, belongs)
}

// leftovers returns the living processes of this user that carry one of the marks, and their descendants. This process
// itself is none, whatever it was started with.
func leftovers(marks map[string]bool) []relative {
	self := os.Getpid()
	var rest []relative
	belongs := map[int]bool{}
	for _, p := range processes() {
		if p.zombie || p.pid == self || !ownedByUs(p.pid) {
			continue
		}
		rest = append(rest, p)
		if slices.ContainsFunc(environOf(p.pid), func(entry []byte) bool { return marks[string(entry)] }) {
			belongs[p.pid] = true
		}
	}
	return family(rest, belongs)
}

// ownedByUs reports whether a process runs as the user that this process runs as.
func ownedByUs(pid int) bool {
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
	if err != nil {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid()
}

// family returns those of rest that belong, and their descendants. It uses up its arguments.
func family(rest []relative, belongs map[int]bool) []relative {
	var found []relative
	for {
		before := len(rest)
		rest = slices.DeleteFunc(rest, func(p relative) bool {
			if !belongs[p.pid] && !belongs[p.parent] {
				return false
			}
			belongs[p.pid] = true
			found = append(found, p)
			return true
		})
		if len(rest) == before {
			return found
		}
	}
}

// livingSince returns the processes that were not started before then, zombies left out.
func livingSince(then uint64) []relative {
	var living []relative
	for _, p := range processes() {
		if !p.zombie && p.started >= then {
			living = append(living, p)
		}
	}
	return living
}

// processes returns all processes that /proc shows.
func processes() []relative {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	var all []relative
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProcess(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// readProcess reads /proc/PID/stat. The program's name stands there in parentheses and may hold anything, so
// the fields are counted from its end.
func readProcess(pid int) (relative, bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return relative{}, false
	}
	return parseStat(pid, text)
}

func parseStat(pid int, text []byte) (relative, bool) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const state, parent, group, started = 0, 1, 2, 19
	if len(fields) <= started {
		return relative{}, false
	}
	p := relative{pid: pid, zombie: fields[state][0] == 'Z' || fields[state][0] == 'X'}
	var err1, err2, err3 error
	p.parent, err1 = strconv.Atoi(string(fields[parent]))
	p.group, err2 = strconv.Atoi(string(fields[group]))
	p.started, err3 = strconv.ParseUint(string(fields[started]), 10, 64)
	return p, err1 == nil && err2 == nil && err3 == nil
}

// hasMark reports whether a process was started with mark in its environment. That of other users' processes
// cannot be read.
func hasMark(pid int, mark string) bool {
	return mark != "" && slices.ContainsFunc(environOf(pid), func(entry []byte) bool { return string(entry) == mark })
}

// environOf returns the environment that a process was started with, NAME=value each; empty if it cannot be read.
func environOf(pid int) [][]byte {
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return nil
	}
	return bytes.Split(environ, []byte{0})
}
