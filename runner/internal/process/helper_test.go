//go:build linux

package process

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// The tests start this program again as a helper where they need a parent that they can kill.
const helperEnv = "CHARTBOOK_PROCESS_TEST_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperEnv); name != "" {
		helpers[name]()
		return
	}
	os.Exit(m.Run())
}

// helpers are what this program does instead of testing, by the value of helperEnv.
var helpers = map[string]func(){}

// shell is a Spec that runs a script.
func shell(script string) Spec {
	return Spec{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// lines is a writer that hands out what is written to it, line by line.
type lines struct {
	mu   sync.Mutex
	rest bytes.Buffer
	out  chan string
}

func newLines() *lines { return &lines{out: make(chan string, 100)} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest.Write(p)
	for bytes.ContainsRune(l.rest.Bytes(), '\n') {
		line, _ := l.rest.ReadString('\n')
		l.out <- strings.TrimSuffix(line, "\n")
	}
	return len(p), nil
}

// next returns the next line.
func (l *lines) next(t *testing.T) string {
	t.Helper()
	select {
	case line := <-l.out:
		return line
	case <-time.After(20 * time.Second):
		t.Fatal("no line within 20 s")
		return ""
	}
}

// eventually fails unless what becomes true soon.
func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if check() {
			return
		}
	}
	t.Fatalf("not within 20 s: %s", what)
}

// marked returns the ids of the living processes that carry mark.
func marked(mark string) []int {
	var pids []int
	for _, p := range processes() {
		if !p.zombie && hasMark(p.pid, mark) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}
