//go:build linux

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestRunReportsTheEnd(t *testing.T) {
	tests := []struct {
		why    string
		script string
		want   Exit
	}{
		{"a good program has code 0", "true", Exit{}},
		{"the exit code is passed on", "exit 3", Exit{Code: 3}},
		{"a signal is no exit code", "kill -9 $$", Exit{Code: -1, Signal: syscall.SIGKILL}},
		{"a signal that it sends itself is not our stopping it", "kill -TERM $$", Exit{Code: -1, Signal: syscall.SIGTERM}},
		{"a child's death by signal is an exit code of the shell", "sh -c 'kill -9 $$'", Exit{Code: 137}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got, err := OS{}.Run(t.Context(), shell(tt.script))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Exit{}, "CPU", "MaxRSS")); diff != "" {
				t.Errorf("exit (-want +got):\n%s", diff)
			}
			if got.MaxRSS < 100<<10 || got.MaxRSS > 1<<30 {
				t.Errorf("a shell needed %d bytes of memory", got.MaxRSS)
			}
		})
	}
}

func TestRunPassesEnvironmentDirectoryAndDescriptors(t *testing.T) {
	var stdout, stderr, three, four bytes.Buffer
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LEAKED", "from the operator")
	spec := shell(`env | grep -v -e ^PWD -e ^_= -e ^SHLVL | sort; pwd; cat; echo err >&2; echo three >&3; echo four >&4`)
	spec.Env = append(spec.Env, "A=b c")
	spec.Mark, spec.Dir = "RUN=42", dir
	spec.Stdout, spec.Stderr, spec.Extra = &stdout, &stderr, []io.Writer{&three, &four}
	if exit, err := (OS{}).Run(t.Context(), spec); err != nil || exit.Code != 0 {
		t.Fatalf("exit %+v, error %v", exit, err)
	}
	want := fmt.Sprintf("A=b c\nPATH=%s\nRUN=42\n%s\n", os.Getenv("PATH"), dir)
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
	if got := stderr.String() + three.String() + four.String(); got != "err\nthree\nfour\n" {
		t.Errorf("stderr and extras are %q", got)
	}
}

func TestRunThatCannotStart(t *testing.T) {
	before := openDescriptors(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	missing := shell("true")
	missing.Path = "/does/not/exist"
	nowhere := shell("true")
	nowhere.Dir = "/does/not/exist"
	tests := []struct {
		why  string
		ctx  context.Context
		spec Spec
		want error
	}{
		{"the program is missing", t.Context(), missing, os.ErrNotExist},
		{"the working directory is missing", t.Context(), nowhere, os.ErrNotExist},
		{"the context is over already", cancelled, shell("true"), context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			tt.spec.Stdout, tt.spec.Extra = io.Discard, []io.Writer{io.Discard}
			_, err := OS{}.Run(tt.ctx, tt.spec)
			if !errors.Is(err, tt.want) {
				t.Errorf("error is %v, want %v", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("error has several lines: %q", err)
			}
		})
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors are open, %d were", after, before)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestRunGoesOnWhenAWriterFails(t *testing.T) {
	spec := shell("head -c 10000000 /dev/zero; echo done >&2")
	var stderr bytes.Buffer
	spec.Stdout, spec.Stderr = brokenWriter{}, &stderr
	exit, err := OS{}.Run(t.Context(), spec)
	if err != nil || exit.Code != 0 || stderr.String() != "done\n" {
		t.Errorf("exit %+v, error %v, stderr %q", exit, err, stderr.String())
	}
}

// Covers AO 10.3 no. 5.
func TestRunBoundsMemoryOfOutput(t *testing.T) {
	spec := shell("yes 0123456789 | head -c 50000000; echo the end")
	out := NewCapture(100, 100)
	spec.Stdout = out
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := (OS{}).Run(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if out.Total() != 50_000_008 || !strings.HasSuffix(out.String(), "the end\n") {
		t.Errorf("%d bytes, ending in %q", out.Total(), out.Tail())
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("50 MB of output allocated %d bytes", grown)
	}
}

func TestRunLeavesNothing(t *testing.T) {
	run := func() {
		spec := shell("echo x; echo y >&3")
		spec.Stdout, spec.Extra = io.Discard, []io.Writer{io.Discard}
		if _, err := (OS{}).Run(t.Context(), spec); err != nil {
			t.Error(err)
		}
	}
	run()
	descriptors, goroutines := openDescriptors(t), runtime.NumGoroutine()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				run()
			}
		})
	}
	all.Wait()
	eventually(t, "goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines })
	if after := openDescriptors(t); after != descriptors {
		t.Errorf("%d descriptors are open, %d were", after, descriptors)
	}
	for _, p := range processes() {
		if p.parent == os.Getpid() {
			t.Errorf("process %+v is left", p)
		}
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func init() {
	helpers["parent"] = func() {
		spec := shell("echo $$; exec sleep 1000")
		spec.Stdout = os.Stdout
		_, err := OS{}.Run(context.Background(), spec)
		fmt.Println(err)
	}
}

// TestChildDiesWithParent also shows that the child outlives the threads that come and go in its parent.
func TestChildDiesWithParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := newLines()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var pid int
	done := make(chan struct{})
	go func() {
		defer close(done)
		// No mark and no clean-up of ours: the helper is killed, and the kernel has to do the rest.
		spec := Spec{Path: self, Env: []string{helperEnv + "=parent", "PATH=" + os.Getenv("PATH")}, Stdout: out}
		spec.Drain = time.Minute
		_, _ = OS{}.Run(ctx, spec)
	}()
	if _, err := fmt.Sscan(out.next(t), &pid); err != nil {
		t.Fatal(err)
	}
	child, ok := readProcess(pid)
	if !ok {
		t.Fatal("the child is not there")
	}
	if err := syscall.Kill(child.parent, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child is gone", func() bool {
		now, ok := readProcess(pid)
		return !ok || now.zombie || !child.still()
	})
	cancel()
	<-done
}
