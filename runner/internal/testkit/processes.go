package testkit

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// Has chooses processes with a variable, NAME=value, in their environment.
func Has(variable string) func(environ []byte) bool {
	entry := []byte(variable + "\x00")
	return func(environ []byte) bool { return bytes.Contains(environ, entry) }
}

// Processes returns the command lines, arguments ended by zero bytes, of the living processes whose environment is chosen, by
// process id. An environment is as /proc has it, with a zero byte at its end. What cannot be read is left out: what has ended,
// and what is somebody else's.
func Processes(chosen func(environ []byte) bool) map[int]string {
	found := map[int]string{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if err != nil || !chosen(append(environ, 0)) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		found[pid] = string(line)
	}
	return found
}
