package procs

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Where the fields of /proc/PID/stat are found, counted from the one behind the command name (see proc_pid_stat(5)).
const (
	stateField = 0
	startField = 19
)

var errStat = errors.New("unreadable stat file")

// parseStat reads id, state and start time. The command name may hold spaces and parentheses, so the fields are
// counted from the last closing one.
func parseStat(raw []byte) (Info, error) {
	open := bytes.IndexByte(raw, '(')
	end := bytes.LastIndexByte(raw, ')')
	if open < 1 || end < open {
		return Info{}, errStat
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(raw[:open])))
	if err != nil {
		return Info{}, fmt.Errorf("%w: %w", errStat, err)
	}
	fields := bytes.Fields(raw[end+1:])
	if len(fields) <= startField {
		return Info{}, errStat
	}
	start, err := strconv.ParseUint(string(fields[startField]), 10, 64)
	if err != nil {
		return Info{}, fmt.Errorf("%w: %w", errStat, err)
	}
	state := fields[stateField][0]
	return Info{ID: ID{PID: pid, StartTicks: start}, Zombie: state == 'Z' || state == 'X'}, nil
}
