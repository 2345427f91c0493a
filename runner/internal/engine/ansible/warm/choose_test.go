//go:build linux

package warm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// with returns the request with more in its environment.
func (r Request) with(entries ...string) Request {
	r.Env = append(slices.Clip(r.Env), entries...)
	return r
}

func TestWhichRunsShareAZygote(t *testing.T) {
	tests := []struct {
		why    string
		first  []string
		second []string
		other  func(*Request)
		shared bool
	}{
		{why: "nothing differs", shared: true},
		{why: "what it has consulted", first: []string{"CONSULTED=1"}, second: []string{"CONSULTED=2"}},
		{why: "what it has consulted and was not there", second: []string{"CONSULTED=2"}},
		{why: "set to nothing is not unset", second: []string{"CONSULTED="}},
		{why: "what nobody has looked at", first: []string{"OTHER=1"}, second: []string{"OTHER=2"}, shared: true},
		{why: "what Python looks at", second: []string{"PYTHONUTF8=1"}},
		{why: "what the C library looks at", first: []string{"LC_ALL=C.UTF-8"}, second: []string{"LC_ALL=en_US.UTF-8"}},
		{why: "what each run has", first: []string{"KUBECONFIG=/1", "K8S_AUTH_HOST=1", "TMPDIR=/tmp"},
			second: []string{"KUBECONFIG=/2", "K8S_AUTH_VERIFY_SSL=2", "TMPDIR=/var/tmp"}, shared: true},
		{why: "collections beside the playbook that are imported ahead", other: func(r *Request) { r.Adjacent = []string{"kubernetes"} }},
		{why: "other collections beside the playbook", other: func(r *Request) { r.Adjacent = []string{"my"} }, shared: true},
		{why: "fewer collections", other: func(r *Request) { r.Preload = nil }, shared: true},
		{why: "more collections", other: func(r *Request) { r.Preload = append(r.Preload, "my.own") }},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			request := func(env ...string) Request {
				r := b.request(`echo "$CONSULTED$OTHER$KUBECONFIG"`).with(env...)
				r.Preload = []string{"kubernetes.core"}
				return r
			}
			b.run(request(tt.first...))
			r := request(tt.second...)
			if tt.other != nil {
				tt.other(&r)
			}
			_, out := b.run(r)
			if n := len(b.starts()); (n == 1) != tt.shared || n > 2 {
				t.Errorf("%d zygotes were started", n)
			}
			env := parseEnviron(r.Env)
			if want := env["CONSULTED"] + env["OTHER"] + env["KUBECONFIG"] + "\n"; out != want {
				t.Errorf("the second run sees %q, want %q", out, want)
			}
		})
	}
}

func TestWhatAZygoteIsStartedWith(t *testing.T) {
	b := newBench(t, nil)
	r := b.request("true").with("KUBECONFIG=/secret", "CHARTBOOK_METRICS_URL=http://token@x", "A=B")
	r.Preload = []string{"kubernetes.core", "community.general"}
	b.run(r)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", b.zygote()))
	if err != nil {
		t.Fatal(err)
	}
	env := parseEnviron(strings.Split(string(text), "\x00"))
	if env["A"] != "B" || env["KUBECONFIG"] != "" || env["CHARTBOOK_METRICS_URL"] != "" || filepath.Dir(env["TMPDIR"]) != b.dir {
		t.Errorf("its environment is %v", env)
	}
	if mark := env["CHARTBOOK_RUN"]; len(mark) != maxMark || "CHARTBOOK_RUN="+mark != b.pool.cfg.Mark {
		t.Errorf("its mark is %q", mark)
	}
	log, _ := os.ReadFile(b.log)
	if want := "--program " + b.program + " --preload community.general,kubernetes.core\n"; !strings.HasSuffix(string(log), want) {
		t.Errorf("it was started by %q, want %q", log, want)
	}
	r = b.request("true")
	r.Preload, r.Adjacent = []string{"kubernetes.core"}, []string{"kubernetes"}
	b.run(r)
	if log, _ = os.ReadFile(b.log); !strings.HasSuffix(string(log), b.program+" --without-collections\n") {
		t.Errorf("the other one was started by %q", log)
	}
}

func TestChangedFileEndsAZygote(t *testing.T) {
	b := newBench(t, nil)
	file := filepath.Join(t.TempDir(), "module.py")
	write := func(text string) {
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	run := func() { b.run(b.request("true").with("STUB_FILES=" + file)) }
	run()
	run()
	if n := len(b.starts()); n != 1 {
		t.Fatalf("%d zygotes were started, want 1", n)
	}
	write("2") // as long as before
	run()
	if n := len(b.starts()); n != 2 {
		t.Errorf("%d zygotes were started, want 2", n)
	}
	eventually(t, "the old one is gone", func() bool { return b.pool.Stats().Zygotes == 1 })
	if told := b.noted(Retired); len(told) != 1 || !strings.Contains(told[0].Detail, file) {
		t.Errorf("told was %+v", told)
	}
}

func TestIdentity(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	absent := identity{path: file}
	if absent.changed() {
		t.Error("a file that is still not there has changed")
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !absent.changed() {
		t.Error("a file that came into being has not changed")
	}
	var there identity
	for text, good := range map[string]bool{
		`["/x", 1790000000123456789, 5, 18446744073709551615]`: true, `["/x", 1]`: false, `{}`: false, `["/x", "1", 2, 3]`: false,
		`["/x", 1, 2, 3, 4]`: false,
	} {
		if err := there.UnmarshalJSON([]byte(text)); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestZygotesAreFew(t *testing.T) {
	clk := newShiftedClock()
	b := newBench(t, func(cfg *Config) { cfg.Clock, cfg.Limit = clk, 2 })
	run := func(env string) { b.run(b.request("true").with("CONSULTED=" + env)) }
	run("1")
	clk.shift(time.Second)
	run("2")
	_, err := b.pool.Run(t.Context(), b.request("true").with("CONSULTED=3"))
	unavailable(t, err, TooMany, "")
	b.pool.Ahead(b.request("true").with("CONSULTED=3"))
	clk.shift(minIdle)
	run("1") // so that 2 has been idle for longest
	b.pool.Ahead(b.request("true").with("CONSULTED=3"))
	run("3")
	run("1")
	if n := len(b.starts()); n != 3 {
		t.Errorf("%d zygotes were started, want 3", n)
	}
	eventually(t, "one has gone", func() bool { return b.pool.Stats().Zygotes == 2 })
}

// TestWornZygoteIsReplacedWithoutAGap: it serves until its successor can.
func TestWornZygoteIsReplacedWithoutAGap(t *testing.T) {
	for _, why := range []string{"runs", "memory"} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(cfg *Config) {
				cfg.Patience = time.Nanosecond // nobody waits
				if why == "runs" {
					cfg.MaxRuns = 3
				}
			})
			b.pool.Ahead(b.request("true"))
			eventually(t, "it is ready", func() bool { return len(b.noted(IsReady)) == 1 })
			if why == "memory" {
				b.pool.mu.Lock()
				b.pool.cfg.MaxResident, b.pool.zygotes[0].born = 1, 1
				b.pool.mu.Unlock()
				b.run(b.request("true"))
				b.pool.mu.Lock()
				b.pool.cfg.MaxResident = 1 << 30
				b.pool.mu.Unlock()
			} else {
				for range 3 {
					b.run(b.request("true"))
				}
			}
			old := b.zygote()
			b.run(b.request("true")) // by the old one, while the next one starts
			eventually(t, "the next one is there", func() bool { return len(b.noted(IsReady)) == 2 })
			eventually(t, "the old one is gone", func() bool { return b.pool.Stats().Zygotes == 1 && b.zygote() != old })
			b.run(b.request("true"))
			if n := len(b.starts()); n != 2 {
				t.Errorf("%d zygotes were started, want 2", n)
			}
			if told := b.noted(Retired); len(told) != 1 {
				t.Errorf("told was %+v", told)
			}
		})
	}
}

func TestManyRunsWaitForOneZygote(t *testing.T) {
	b := newBench(t, nil)
	var all []<-chan result
	for range 10 {
		all = append(all, b.start(t.Context(), b.request("exit 5", "slow")))
	}
	for _, done := range all {
		if got := <-done; got.err != nil || got.end.Code != 5 {
			t.Errorf("ended with %+v", got)
		}
	}
	if n := len(b.starts()); n != 1 {
		t.Errorf("%d zygotes were started, want 1", n)
	}
}

func TestNobodyWaitsForEver(t *testing.T) {
	b := newBench(t, func(cfg *Config) { cfg.Patience = 10 * time.Millisecond })
	_, err := b.pool.Run(t.Context(), b.request("true", "slow"))
	unavailable(t, err, Starting, "")
	eventually(t, "it is ready", func() bool { return len(b.noted(IsReady)) == 1 })
	_, err = b.pool.Run(t.Context(), b.request("true", "slow").with("CONSULTED=2"))
	unavailable(t, err, Environment, "")
}

func TestWhatCannotBeWarm(t *testing.T) {
	b := newBench(t, nil)
	long := b.request("true")
	long.Mark = "CHARTBOOK_RUN=" + strings.Repeat("x", maxMark+1)
	fits := b.request("true")
	fits.ID = strings.Repeat("x", maxMark)
	fits.Mark = "CHARTBOOK_RUN=" + fits.ID
	b.run(fits)
	_, err := b.pool.Run(t.Context(), long)
	unavailable(t, err, LongID, "128 bytes")
	for first, says := range map[string]string{
		"#!/bin/sh\n": "does not begin with the path of a Python", "#!/usr/bin/env python3\n": "does not begin", "": "does not begin",
		"#!/usr/bin/python3 -s\n": "does not begin", "#!/nowhere/python3\n": "no such file",
	} {
		r := b.request("true")
		r.Program = filepath.Join(t.TempDir(), "ansible-playbook")
		if err := os.WriteFile(r.Program, []byte(first), 0o600); err != nil {
			t.Fatal(err)
		}
		b.pool.Ahead(r)
		_, err := b.pool.Run(t.Context(), r)
		unavailable(t, err, Interpreter, says)
	}
	if err := b.pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
	_, err = b.pool.Run(t.Context(), b.request("true"))
	unavailable(t, err, Disabled, "")
	b.pool.Ahead(b.request("true"))
	if n := len(b.starts()); n != 1 {
		t.Errorf("%d zygotes were started, want 1", n)
	}
}

// TestRunIsRefusedWhileAnotherOfItsNameIsUnderWay: how it ends would be told under that name.
func TestRunIsRefusedWhileAnotherOfItsNameIsUnderWay(t *testing.T) {
	b := newBench(t, nil)
	dir := t.TempDir()
	r := b.request("touch started; until test -e go; do sleep 0.01; done")
	r.Dir = dir
	done := b.start(t.Context(), r)
	eventually(t, "it has started", func() bool { return exists(dir + "/started") })
	_, err := b.pool.Run(t.Context(), r)
	unavailable(t, err, Refused, "is under way already")
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil || got.end.Code != 0 {
		t.Errorf("the first one ended with %+v", got)
	}
}

func TestText(t *testing.T) {
	for in, want := range map[text]string{
		"plain <é>": `"plain \u003cé\u003e"`, "a\xffb": `"a\udcffb"`, "\xc3": `"\udcc3"`, "\n\x80": `"\n\udc80"`, "": `""`,
	} {
		if got, err := in.MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v, want %s", string(in), got, err, want)
		}
	}
}
