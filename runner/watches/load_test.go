package watches

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// decodeOne reads a file with one watch, which has the given lines beside its kind.
func decodeOne(t *testing.T, lines string, options Options) (Watch, []Problem, error) {
	t.Helper()
	if options.LookupEnv == nil {
		options.LookupEnv = environment(nil)
	}
	if options.Dir == "" {
		options.Dir = projectDir(t)
	}
	text := "- version: v1\n  group: app.example.com\n  kind: Database\n"
	for line := range strings.SplitSeq(lines, "\n") {
		text += "  " + line + "\n"
	}
	file, err := Decode("watches.yaml", []byte(text), options)
	if err != nil {
		return Watch{}, file.Warnings, err
	}
	return file.Watches[0], file.Warnings, nil
}

func TestDefaults(t *testing.T) {
	got, warnings, err := decodeOne(t, "playbook: playbooks/site.yml", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Watch{
		GVK:                     schema.GroupVersionKind{Group: "app.example.com", Version: "v1", Kind: "Database"},
		Playbook:                filepath.Join(projectDir(t), "playbooks/site.yml"),
		MaxRunnerArtifacts:      20,
		ManageStatus:            true,
		WatchDependentResources: true,
		SnakeCaseParameters:     true,
		Retry:                   Retry{Backoff: time.Second, MaxBackoff: 5 * time.Minute},
		Resync:                  ResyncAlways,
		MaxHistory:              10,
		Position:                Position{File: "watches.yaml", Line: 1, Column: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(warnings) != 1 || !warnings[0].Advice || warnings[0].Key != "markUnsafe" {
		t.Errorf("warnings are %v, want one advice about markUnsafe", warnings)
	}
}

// Covers UP E4.
func TestReconcilePeriod(t *testing.T) {
	period := func(d time.Duration) *time.Duration { return &d }
	cases := []struct {
		reason, lines string
		want          *time.Duration
	}{
		{"an absent period leaves the flag's", "", nil},
		{"so does a null", "reconcilePeriod:", nil},
		{"a period", "reconcilePeriod: 2s", period(2 * time.Second)},
		{"zero seconds disable the period and do not mean the flag's", "reconcilePeriod: 0s", period(0)},
		{"a quoted zero does too", "reconcilePeriod: '0'", period(0)},
		{"a negative period never gave a run", "reconcilePeriod: -1h", period(0)},
		{"units may be combined", "reconcilePeriod: 1h30m", period(90 * time.Minute)},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			got, _, err := decodeOne(t, "role: app\nmarkUnsafe: true\n"+c.lines, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.ReconcilePeriod); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "watches.yaml")
	if err := os.WriteFile(path, []byte("- {version: v1, kind: Secret, role: app, markUnsafe: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := Load(path, Options{Dir: projectDir(t), LookupEnv: environment(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if got := file.Watches[0].Role; got != filepath.Join(projectDir(t), "roles/app") {
		t.Errorf("the role is %s: paths are relative to Dir, not to the file", got)
	}
}

func TestLoadFailures(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
	if _, err := Load(t.TempDir(), Options{}); err == nil {
		t.Error("a directory was read")
	}
	large := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(large, make([]byte, 5*maxFile), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(large, Options{})
	var problems Problems
	if !errors.As(err, &problems) || problems[0].Message != "the file has more than 1 MiB, which is the limit" {
		t.Errorf("a file over the limit gives %v", err)
	}
}

func TestManyProblemsAreBounded(t *testing.T) {
	var text strings.Builder
	for range 10_000 {
		text.WriteString("- {a: 1}\n")
	}
	_, err := Decode("watches.yaml", []byte(text.String()), Options{Dir: projectDir(t), LookupEnv: environment(nil)})
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != maxProblems {
		t.Errorf("got %d problems, want %d", len(problems), maxProblems)
	}
}

// TestPositionsBehindVariables checks that a value of several lines does not move the places below it.
func TestPositionsBehindVariables(t *testing.T) {
	env := map[string]string{"LINES": "a: 1\n    b: 2\n    c: 3", "LONG": strings.Repeat("x", 50)}
	text := "- version: v1\n  kind: X\n  group: a.example.com\n  vars:\n    $LINES\n    d: 4\n  bogus1: 1\n  role: $LONG\n  {$LONG: 1, bogus2: 2}: x\n  über$LONG: 1\n"
	_, err := Decode("w.yaml", []byte(text), Options{Dir: projectDir(t), LookupEnv: environment(env), Strict: true})
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	var places []string
	for _, p := range problems {
		places = append(places, p.Position.String())
	}
	want := []string{"w.yaml:7:3", "w.yaml:8:9", "w.yaml:9:3", "w.yaml:10:3"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("(-want +got):\n%s\n%v", diff, err)
	}
}

func TestLineBreaks(t *testing.T) {
	cases := []struct{ reason, text, want string }{
		{"of Windows", "- version: v1\r\n  kind: X\r\n  role: app\r\n  bogus: 1\r\n", "w.yaml:4:3"},
		{"of old Macs", "- version: v1\r  kind: X\r  role: app\r  bogus: 1\r", "w.yaml:4:3"},
		{"that only YAML knows are none in an editor", "- version: v1 # a\u2028  kind: X\n  role: app\n  bogus: 1\n", "w.yaml:3:3"},
		{"after a byte order mark", "\ufeff- version: v1\n  kind: X\n  role: app\n  bogus: 1\n", "w.yaml:4:3"},
		{"after letters of several bytes", "- {version: v1, kind: X, role: app, markUnsafe: true, vars: {é: 日本}, bogus: 1}\n", "w.yaml:1:70"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			file, err := Decode("w.yaml", []byte(c.text), Options{Dir: projectDir(t), LookupEnv: environment(nil)})
			if err != nil {
				t.Fatal(err)
			}
			for _, warning := range file.Warnings {
				if warning.Key == "bogus" {
					if got := warning.Position.String(); got != c.want {
						t.Errorf("the place is %s, want %s", got, c.want)
					}
					return
				}
			}
			t.Errorf("no warning about bogus in %v", file.Warnings)
		})
	}
}

func TestProblemsAreOneLineEach(t *testing.T) {
	text := "- version: \"a\\nb\\e[31m\"\n  kind: \"X\\r\\nY\"\n  role: \"a\\tb\"\n"
	_, err := Decode("w.yaml", []byte(text), Options{Dir: projectDir(t), LookupEnv: environment(nil)})
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != len(problems) {
		t.Errorf("%d problems took %d lines:\n%s", len(problems), len(lines), err)
	}
	if strings.ContainsAny(err.Error(), "\x1b\t\r") {
		t.Errorf("the report holds control characters: %q", err)
	}
}

func TestExecutor(t *testing.T) {
	for _, c := range []struct {
		reason, lines string
		want          Executor
	}{
		{"without the key the flag decides", "", ""},
		{"a watch may decide for itself", "executor: runner", ExecutorRunner},
		{"or the fast one", "executor: warm", ExecutorWarm},
		{"also against a flag that says runner", "executor: direct", ExecutorDirect},
	} {
		got, _, err := decodeOne(t, "role: app\nmarkUnsafe: true\n"+c.lines, Options{})
		if err != nil || got.Executor != c.want {
			t.Errorf("%s: executor is %q, error %v", c.reason, got.Executor, err)
		}
	}
	if _, _, err := decodeOne(t, "role: app\nexecutor: job", Options{}); err == nil || !strings.Contains(err.Error(), "not supported yet") {
		t.Errorf("an executor that is not built gives %v", err)
	}
}
