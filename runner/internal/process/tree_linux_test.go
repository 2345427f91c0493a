package process

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseStat(t *testing.T) {
	rest := " 7 8 9 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0"
	tests := []struct {
		why, text string
		want      relative
		ok        bool
	}{
		{"an ordinary line", "42 (sleep) S" + rest, relative{pid: 42, parent: 7, group: 8, started: 4711}, true},
		{"a name that looks like fields", "42 (a) Z 1 1 (b)) R" + rest, relative{pid: 42, parent: 7, group: 8, started: 4711}, true},
		{"a zombie", "42 (sleep) Z" + rest, relative{pid: 42, parent: 7, group: 8, started: 4711, zombie: true}, true},
		{"cut short", "42 (sleep) S 7 8", relative{}, false},
		{"empty", "", relative{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got, ok := parseStat(42, []byte(tt.text))
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(relative{})); ok != tt.ok || diff != "" {
				t.Errorf("ok is %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func FuzzParseStat(f *testing.F) {
	if own, err := os.ReadFile("/proc/self/stat"); err == nil {
		f.Add(own)
	}
	f.Add([]byte("1 (x) S 0 1 1"))
	f.Fuzz(func(_ *testing.T, text []byte) { parseStat(1, text) })
}
