package table

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("not as in %s (-want +got):\n%s", path, diff)
	}
}

func sampleRows() []Row {
	return []Row{
		{ID: "1", Kind: "Sample", Name: "sample", Ready: "True", Reason: "Succeeded", Run: "4f1c9a", Duration: 1640 * time.Millisecond},
		{ID: "2", Kind: "PostgresCluster", Name: "postgres", Ready: "False", Reason: "ReplicasNotReady", Run: "77ab01", Duration: 12 * time.Second},
		{ID: "3", Kind: "Secret", Name: "a-name-that-is-longer-than-all-the-others"},
	}
}

func TestRender(t *testing.T) {
	tests := map[string]struct {
		reason string
		rows   []Row
		width  int
	}{
		"wide":    {reason: "columns take the room that they need", rows: sampleRows()},
		"cut":     {reason: "the widest column gives way first", rows: sampleRows(), width: 80},
		"narrow":  {reason: "columns that are cut to the minimum are followed by a cut line", rows: sampleRows(), width: 40},
		"empty":   {reason: "the header stands alone", width: 80},
		"hostile": {reason: "what others wrote cannot move the cursor", rows: []Row{{Kind: "Sample", Name: "a\x1b[2Jb\nc", Reason: "ünïcode"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			golden(t, "render-"+name, strings.Join(Render(test.rows, test.width), "\n")+"\n")
		})
	}
}

func FuzzRender(f *testing.F) {
	f.Add("Sample", "a\x1b[2Jb", "Succeeded", 20)
	f.Add("", "", "", 1)
	f.Add("\xff", "世界", "x", -1)
	f.Fuzz(func(t *testing.T, kind, name, reason string, width int) {
		for _, line := range Render([]Row{{Kind: kind, Name: name, Reason: reason}}, width) {
			if strings.ContainsAny(line, "\x1b\n\r") {
				t.Errorf("%q moves the cursor", line)
			}
			if width > 0 && utf8.RuneCountInString(line) > width {
				t.Errorf("%q is longer than %d", line, width)
			}
		}
	})
}
