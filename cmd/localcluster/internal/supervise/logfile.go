package supervise

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// LogName is the supervisor's own log, beside those of the components. Only a crash writes to it.
const LogName = "supervisor"

// maxLog bounds one log file; one older file of the same size is kept beside it.
const maxLog = 4 << 20

// LogFile takes what a component writes and never grows beyond its bound.
type LogFile struct {
	mu    sync.Mutex
	path  string
	limit int64
	size  int64
	file  *os.File
}

// OpenLog appends to the log at path.
func OpenLog(path string, limit int64) (*LogFile, error) {
	l := &LogFile{path: path, limit: limit}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

// Write appends to the log and never fails: a full disk must not end the component that reports it.
func (l *LogFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(p)) > l.limit {
		l.rotate()
	}
	if l.file != nil {
		n, _ := l.file.Write(p)
		l.size += int64(n)
	}
	return len(p), nil
}

// Close closes the file.
func (l *LogFile) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.file.Close()
	l.file = nil
}

func (l *LogFile) rotate() {
	if l.file != nil {
		_ = l.file.Close()
	}
	_ = os.Rename(l.path, l.path+".old")
	_ = l.open()
}

func (l *LogFile) open() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		l.file = nil
		return fmt.Errorf("cannot open a log: %w", err)
	}
	l.file, l.size = file, 0
	if info, err := file.Stat(); err == nil {
		l.size = info.Size()
	}
	return nil
}

// Tail returns the last lines of a log.
func Tail(path string, lines int) []string {
	const window = 16 << 10
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > window {
		_, _ = file.Seek(-window, io.SeekEnd)
	}
	raw, _ := io.ReadAll(io.LimitReader(file, window))
	all := strings.Split(string(bytes.TrimRight(raw, "\n")), "\n")
	if len(all) == 1 && all[0] == "" {
		return nil
	}
	return all[max(0, len(all)-lines):]
}

// logCrashes makes a crash of this process leave its traces in a file, for nobody reads the standard error of a
// detached process.
func logCrashes(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot open a log: %w", err)
	}
	defer func() { _ = file.Close() }() // the runtime keeps a copy
	return debug.SetCrashOutput(file, debug.CrashOptions{})
}
