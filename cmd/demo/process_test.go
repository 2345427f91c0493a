package main

import (
	"os"
	"testing"
)

func TestStartField(t *testing.T) {
	const numbers = " 1 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 4711 1"
	tests := map[string]struct {
		reason string
		stat   string
		want   string
		err    bool
	}{
		"Plain":  {reason: "the 22nd field", stat: "7 (demo) S" + numbers, want: "4711"},
		"Name":   {reason: "a name may look like fields", stat: "7 (a) S 1 (b) S" + numbers, want: "4711"},
		"Zombie": {reason: "has ended, though it has a number still", stat: "7 (demo) Z" + numbers, err: true},
		"Short":  {reason: "not a stat line", stat: "7 (demo) S 1", err: true},
		"Empty":  {reason: "not a stat line", err: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := startField(test.stat)
			if got != test.want || (err != nil) != test.err {
				t.Errorf("got %q, %v; want %q: %s", got, err, test.want, test.reason)
			}
		})
	}
}

func TestIdentifyTellsProcessesApart(t *testing.T) {
	me, err := identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !me.alive() {
		t.Error("this very process is not alive")
	}
	other := me
	other.Start += "0"
	if other.alive() {
		t.Error("a process of another start time is taken for this one")
	}
}
