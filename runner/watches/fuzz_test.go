package watches

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzDecode checks what holds for any text: no panic, an answer in time, the same answer twice, and a place for
// every problem.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/golden/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, true)
	}
	missing := func(string) (fs.FileInfo, error) { return nil, fs.ErrNotExist }
	f.Fuzz(func(t *testing.T, data []byte, strict bool) {
		options := Options{Dir: "/work", Home: "/home", LookupEnv: environment(goldenEnvironment), Stat: missing, Strict: strict}
		start := time.Now()
		file, err := Decode("watches.yaml", data, options)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%d bytes took %s", len(data), took)
		}
		checkProblems(t, file.Warnings, err)
		again, errAgain := Decode("watches.yaml", data, options)
		if diff := cmp.Diff(file, again); diff != "" {
			t.Errorf("the second reading differs (-first +second):\n%s", diff)
		}
		if err != nil && err.Error() != errAgain.Error() {
			t.Errorf("the second reading gives %v, the first %v", errAgain, err)
		}
	})
}

// checkProblems checks that an error is a list of problems, and that all problems have a place and words.
func checkProblems(t *testing.T, problems []Problem, err error) {
	t.Helper()
	var list Problems
	if err != nil && (!errors.As(err, &list) || len(list) == 0) {
		t.Fatalf("the error is no list of problems: %v", err)
	}
	for _, p := range append(problems, list...) {
		if p.Line < 1 || p.Column < 1 || p.Message == "" || p.File != "watches.yaml" {
			t.Errorf("a problem lacks something: %#v", p)
		}
	}
}
