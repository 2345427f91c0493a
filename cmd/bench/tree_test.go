package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const numbers = " 7 1 1 0 -1 4194560 1 0 0 0 11 22 33 44 20 0 1 0 4711 1"
	tests := []struct {
		reason, stat string
		want         process
		ok           bool
	}{
		{"own time and that of children that were waited for", "9 (python3) S" + numbers, process{9, 7, 1100 * time.Millisecond}, true},
		{"a name may look like fields", "9 (a) S 1 (b) R" + numbers, process{9, 7, 1100 * time.Millisecond}, true},
		{"not a stat line", "9 (python3) S 7", process{}, false},
		{"nothing", "", process{}, false},
	}
	for _, tt := range tests {
		if got, ok := parseStat(tt.stat); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %v, %v", tt.reason, got, ok)
		}
	}
}

func TestProportional(t *testing.T) {
	const text = "00400000-7fff00000000 ---p 00000000 00:00 0 [rollup]\nRss:   20000 kB\nPss:    12345 kB\nPss_Anon:  100 kB\n"
	if got := proportional([]byte(text)); got != 12345<<10 {
		t.Errorf("got %d", got)
	}
	if got := proportional(nil); got != 0 {
		t.Errorf("of a process that has ended: %d", got)
	}
}

// TestTreeCountsTheDead: what children of children have used counts when they are gone.
func TestTreeCountsTheDead(t *testing.T) {
	before, err := quiet(t.Context(), os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("sh", "-c", "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; true").Run(); err != nil {
		t.Fatal(err)
	}
	after, err := quiet(t.Context(), os.Getpid())
	if err != nil || after-before < 2*tick {
		t.Errorf("%v more, %v", after-before, err)
	}
}

func TestTreeOfDescendants(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 60 & echo; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = out.Read(make([]byte, 1))
	found, err := tree(os.Getpid())
	isShell := func(p process) bool { return p.pid == cmd.Process.Pid }
	isSleep := func(p process) bool { return p.parent == cmd.Process.Pid }
	if err != nil || !slices.ContainsFunc(found, isShell) || !slices.ContainsFunc(found, isSleep) {
		t.Errorf("%v, %v", found, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	peak := watchMemory(ctx, os.Getpid())
	time.Sleep(50 * time.Millisecond)
	cancel()
	if most := <-peak; most < 1<<20 {
		t.Errorf("this test takes %d bytes of memory?", most)
	}
	for _, p := range found {
		if isSleep(p) {
			sleep, _ := os.FindProcess(p.pid)
			_ = sleep.Kill()
		}
	}
	_ = cmd.Wait()
	if _, err := tree(cmd.Process.Pid); err == nil {
		t.Error("a process that is gone has a tree")
	}
}
