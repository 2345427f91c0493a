//go:build linux

package warm

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

func TestRun(t *testing.T) {
	b := newBench(t, nil)
	var stdout, stderr, events bytes.Buffer
	dir := t.TempDir()
	extra, err := os.Open(b.program)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = extra.Close() }()
	r := b.request(`echo "$CHARTBOOK_RUN $A"; pwd; echo err >&2; echo event >&3; cat <&4; cat; exit 3`)
	r.Env = append(r.Env, "A=b\xffc")
	r.Dir, r.Extra = dir, []*os.File{extra}
	r.Stdout, r.Stderr, r.Events = &stdout, &stderr, &events
	end, err := b.pool.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := End{Exit: process.Exit{Code: 3, CPU: 1500 * time.Microsecond, MaxRSS: 2 << 20}, Modules: map[string]int{"forked": 1}}
	if diff := cmp.Diff(want, end); diff != "" {
		t.Errorf("end (-want +got):\n%s", diff)
	}
	if want := r.ID + " b\xffc\n" + dir + "\n#!/usr/bin/python3\n"; stdout.String() != want {
		t.Errorf("it printed %q, want %q", stdout.String(), want)
	}
	if stderr.String()+events.String() != "err\nevent\n" {
		t.Errorf("errors are %q, events %q", stderr.String(), events.String())
	}
	if left := living(r.Mark); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if got, out := b.run(b.request("echo again")); got.Code != 0 || out != "again\n" {
		t.Errorf("the next run gives %+v, %q", got, out)
	}
	if n := len(b.starts()); n != 1 {
		t.Errorf("%d zygotes were started, want 1", n)
	}
	if ready := b.noted(IsReady); len(ready) != 1 || !strings.Contains(ready[0].Detail, "ansible-core 2.0") {
		t.Errorf("told was %+v", ready)
	}
}
