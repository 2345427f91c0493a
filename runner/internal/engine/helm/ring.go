package helm

import (
	"fmt"
	"strings"
	"sync"
)

// How much of Helm's log is kept for the case that a run fails.
const (
	ringLines = 32
	ringWidth = 512
)

// ring keeps the last lines of Helm's log.
type ring struct {
	mu    sync.Mutex
	lines []string
}

// printf is a logger for Helm.
func (r *ring) printf(format string, args ...any) {
	line := strings.TrimSpace(fmt.Sprintf(format, args...))
	if len(line) > ringWidth {
		line = strings.ToValidUTF8(line[:ringWidth], "") + "..."
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) == ringLines {
		copy(r.lines, r.lines[1:])
		r.lines = r.lines[:ringLines-1]
	}
	r.lines = append(r.lines, line)
}

// last returns the kept lines, oldest first.
func (r *ring) last() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.lines...)
}
