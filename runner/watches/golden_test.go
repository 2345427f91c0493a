package watches

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// projectDir is the directory that the files of testdata/golden are read against.
func projectDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata/project")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// environment makes a LookupEnv of a map.
func environment(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
}

// goldenEnvironment is what the files of testdata/golden see.
var goldenEnvironment = map[string]string{
	"IMAGE":                    "registry.example.com/web:1.2.3",
	"ENABLED":                  "false",
	"VERSION":                  "v1beta1",
	"KEY":                      "playbook",
	"LABEL":                    "tier",
	"VALUE":                    "front",
	"LINES":                    "manageStatus: true\n  reconcilePeriod: 1h\n  watchAnnotationsChanges: true",
	"ANSIBLE_COLLECTIONS_PATH": "collections",
}

// Covers AO 10.1 no. 15.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	dir := projectDir(t)
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			options := Options{Dir: dir, Home: "/home/operator", LookupEnv: environment(goldenEnvironment)}
			got := report(t, dir, func() (File, error) { return Decode("watches.yaml", data, options) })
			options.Strict = true
			strict := report(t, dir, func() (File, error) { return Decode("watches.yaml", data, options) })
			if strict != got {
				got += "--- strict ---\n" + strict
			}
			golden := strings.TrimSuffix(path, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s differs from what the file gives now (-want +got); run with -update if that is right:\n%s", golden, diff)
			}
		})
	}
}

// report prints what reading a file comes to: problems, then watches.
func report(t *testing.T, dir string, read func() (File, error)) string {
	t.Helper()
	file, err := read()
	var out strings.Builder
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(&out, "error: %s\n", line)
		}
	}
	for _, warning := range file.Warnings {
		word := "warning"
		if warning.Advice {
			word = "advice"
		}
		fmt.Fprintf(&out, "%s: %s\n", word, warning)
	}
	for _, watch := range file.Watches {
		text, err := json.MarshalIndent(watch, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n", text)
	}
	return strings.ReplaceAll(out.String(), dir, "DIR")
}
