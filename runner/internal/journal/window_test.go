package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// openTestWindow opens a window until the test ends or stop is called.
func openTestWindow(t *testing.T, private string, look func() Live) (stop func()) {
	t.Helper()
	w, err := OpenWindow(private, look)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Start(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := errors.Join(<-ended, w.Close()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func TestWindow(t *testing.T) {
	// The kernel refuses sockets whose path is longer than 107 bytes.
	private := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if _, err := Ask(t.Context(), private); !errors.Is(err, ErrNobody) {
		t.Errorf("before there is anything: %v", err)
	}
	want := Live{Format: 1, Since: noon, Leading: true, Keeps: true, Queue: []Record{{
		State: Queued, Trigger: engine.TriggerSpec, Due: noon, WaitsFor: ForSlot,
		Resource: Resource{APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "a"},
	}}}
	stop := openTestWindow(t, private, func() Live { return want })
	for range 2 {
		got, err := Ask(t.Context(), private)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	info, err := os.Stat(filepath.Join(private, "records", "live"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v; others must not reach it", info, err)
	}
	stop()
	if _, err := Ask(t.Context(), private); !errors.Is(err, ErrNobody) {
		t.Errorf("after the end: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(private, "records")); err != nil || len(left) > 0 {
		t.Errorf("left after the end: %v, %v", left, err)
	}
}

func TestWindowOfAKilledOperator(t *testing.T) {
	private := t.TempDir()
	killed, err := OpenWindow(private, nil)
	if err != nil {
		t.Fatal(err)
	}
	killed.listener.SetUnlinkOnClose(false)
	if err := killed.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Ask(t.Context(), private); !errors.Is(err, ErrNobody) {
		t.Errorf("while its socket is left: %v", err)
	}
	openTestWindow(t, private, func() Live { return Live{Since: noon.Add(time.Hour)} })
	if live, err := Ask(t.Context(), private); err != nil || !live.Since.Equal(noon.Add(time.Hour)) {
		t.Errorf("its successor answers %v, %v", live, err)
	}
}
