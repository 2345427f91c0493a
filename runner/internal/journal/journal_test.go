package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, private string, maxBytes int64) *Journal {
	t.Helper()
	j, err := Open(private, maxBytes, func(err error) { t.Errorf("a record is lost: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// read returns the states of all runs, by id.
func read(t *testing.T, private string, lives time.Time) map[string]State {
	t.Helper()
	records, err := Read(private, lives)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]State{}
	for _, r := range records {
		if _, twice := states[r.ID]; twice {
			t.Errorf("run %s is there twice", r.ID)
		}
		states[r.ID] = r.State
	}
	return states
}

func running(id string, started time.Time) Record {
	return Record{ID: id, State: Running, Resource: Resource{APIVersion: "v1", Kind: "Secret", Name: "a"}, Started: started}
}

func ended(id string) Record {
	r := running(id, noon)
	r.State, r.Finished, r.Outcome = Ended, noon.Add(time.Second), engine.Succeeded
	return r
}

func TestRecordsOutliveTheOperator(t *testing.T) {
	private := t.TempDir()
	first := open(t, private, 1<<20)
	first.Add(running("good", noon))
	first.Add(ended("good"))
	first.Add(running("cut", noon))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, private, 1<<20)
	second.Add(running("new", noon.Add(time.Minute)))

	want := map[string]State{"good": Ended, "cut": Interrupted, "new": Running}
	if diff := cmp.Diff(want, read(t, private, noon.Add(time.Minute))); diff != "" {
		t.Errorf("while the second lives (-want +got):\n%s", diff)
	}
	want["new"] = Interrupted
	if diff := cmp.Diff(want, read(t, private, time.Time{})); diff != "" {
		t.Errorf("when it lives no more (-want +got):\n%s", diff)
	}
}

func TestRecordComesBackAsItWas(t *testing.T) {
	private := t.TempDir()
	j := open(t, private, 1<<20)
	want := Record{
		Format: 1, ID: "a", State: Ended,
		Resource: Resource{APIVersion: "example.com/v1", Kind: "Database", Namespace: "ns", Name: "main", Generation: 2},
		Mode:     engine.Reconcile, Trigger: engine.TriggerSpec, Why: "spec.size changed", Attempt: 1,
		Path:    Path{Asked: "warm", Executor: "direct", Fallback: "starting", Modules: map[string]int{"forked": 1}},
		Started: noon, Finished: noon.Add(time.Second), WaitSeconds: 0.25,
		Outcome: engine.Permanent, Reason: "TaskFailed", Message: "no <html> & \"quotes\"\nhere",
		Tasks: &Tasks{OK: 1, Failed: 1}, Release: &Release{Name: "r", Revision: 3, Action: engine.ActionUpgrade},
		Requests: 4, Processes: 1, MemoryBytes: 1 << 20,
	}
	j.Add(want)
	got, err := Read(private, noon)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Record{want}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(private, "records", "runs"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v; others must not read it", info, err)
	}
}

func TestDiskIsBounded(t *testing.T) {
	private := t.TempDir()
	j := open(t, private, MinBytes)
	const runs = 500
	for i := range runs {
		j.Add(ended(fmt.Sprint(i)))
	}
	var size int64
	entries, err := os.ReadDir(filepath.Join(private, "records"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > MinBytes || size < MinBytes/3 {
		t.Errorf("%d bytes are used of %d", size, MinBytes)
	}
	states := read(t, private, noon)
	if states[fmt.Sprint(runs-1)] != Ended || states["0"] != "" {
		t.Errorf("the newest runs have to stay, and the oldest to go: %v", states)
	}
}

func TestNoRoomKeepsNothing(t *testing.T) {
	private := t.TempDir()
	open(t, private, 1<<20).Add(ended("old"))
	j := open(t, private, 0)
	j.Add(ended("new")) // a nil journal takes all calls
	if states := read(t, private, noon); len(states) > 0 {
		t.Errorf("kept: %v", states)
	}
}

func TestLinesThatAreNoRecordsAreLeftOut(t *testing.T) {
	private := t.TempDir()
	open(t, private, 1<<20).Add(ended("good"))
	path := filepath.Join(private, "records", "runs")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	half := string(text[:len(text)/2]) // by an operator that was killed
	other := strings.Replace(string(text), `"format":1`, `"format":2`, 1)
	if err := os.WriteFile(path, []byte(other+"no json\n"+half), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, private, 1<<20).Add(ended("after"))
	if diff := cmp.Diff(map[string]State{"after": Ended}, read(t, private, noon)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNoJournal(t *testing.T) {
	if _, err := Read(t.TempDir(), noon); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want that there is none", err)
	}
}

func TestLostRecordsAreToldOnce(t *testing.T) {
	told := 0
	j, err := Open(t.TempDir(), 1<<20, func(error) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	_ = j.file.Close() // as if the disk were gone
	for range 3 {
		j.Add(ended("a"))
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

func TestLongMessagesAreCut(t *testing.T) {
	for _, message := range []string{strings.Repeat("x", 2000), strings.Repeat("é", 1000), "short"} {
		got := shorten(message)
		if len(got) > maxMessage || !utf8.ValidString(got) || len(message) < maxMessage && got != message {
			t.Errorf("%.20q... becomes %d bytes: %.20q", message, len(got), got)
		}
	}
}

func TestManyRunsAtOnce(t *testing.T) {
	private := t.TempDir()
	j := open(t, private, 64<<10)
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 200 {
				j.Add(ended(fmt.Sprint(w, "-", i)))
			}
		})
	}
	for range 50 {
		read(t, private, noon)
	}
	writers.Wait()
	if states := read(t, private, noon); len(states) < 50 {
		t.Errorf("only %d runs are left", len(states))
	}
}
