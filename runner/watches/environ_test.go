package watches

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestConcurrencyFromEnvironment(t *testing.T) {
	const modern, old = "MAX_CONCURRENT_RECONCILES_DATABASE_APP_EXAMPLE_COM", "WORKER_DATABASE_APP_EXAMPLE_COM"
	cases := []struct {
		reason   string
		env      map[string]string
		lines    string
		want     int
		warnings int
	}{
		{"without a variable the flag decides", nil, "", 0, 0},
		{"the file decides before the flag", nil, "maxConcurrentReconciles: 7", 7, 0},
		{"the variable decides before the file", map[string]string{modern: "2"}, "maxConcurrentReconciles: 7", 2, 0},
		{"the deprecated variable still counts", map[string]string{old: "3"}, "", 3, 1},
		{"of both the new one counts", map[string]string{modern: "3", old: "1"}, "", 3, 0},
		{"zero is no number of workers", map[string]string{old: "0"}, "", 0, 2},
		{"nor is a negative number", map[string]string{modern: "-1"}, "", 0, 1},
		{"a bad value does not make way for the deprecated variable", map[string]string{modern: "x", old: "4"}, "", 0, 1},
		{"an empty value is a bad one", map[string]string{modern: ""}, "", 0, 1},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			got, warnings, err := decodeOne(t, strings.TrimSpace("role: app\nmarkUnsafe: true\n"+c.lines), Options{LookupEnv: environment(c.env)})
			if err != nil {
				t.Fatal(err)
			}
			if got.MaxConcurrentReconciles != c.want || len(warnings) != c.warnings {
				t.Errorf("got %d with warnings %v, want %d with %d", got.MaxConcurrentReconciles, warnings, c.want, c.warnings)
			}
		})
	}
}

func TestVerbosityFromEnvironment(t *testing.T) {
	number := func(n int) *int { return &n }
	cases := []struct {
		reason, value string
		want          *int
	}{
		{"a number", "3", number(3)},
		{"the lowest", "0", number(0)},
		{"the highest", "7", number(7)},
		{"too low", "-1", nil},
		{"too high", "8", nil},
		{"no number", "vvv", nil},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			env := map[string]string{"ANSIBLE_VERBOSITY_DATABASE_APP_EXAMPLE_COM": c.value}
			got, warnings, err := decodeOne(t, "role: app\nmarkUnsafe: true", Options{LookupEnv: environment(env)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.AnsibleVerbosity); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if told := len(warnings) == 1; told != (c.want == nil) {
				t.Errorf("warnings are %v", warnings)
			}
		})
	}
}

func TestVariableName(t *testing.T) {
	cases := []struct {
		reason string
		gvk    schema.GroupVersionKind
		want   string
	}{
		{"dots become underscores", schema.GroupVersionKind{Group: "app.example.com", Kind: "Db"}, "WORKER_DB_APP_EXAMPLE_COM"},
		{"hyphens stay, as they did", schema.GroupVersionKind{Group: "my-app.example.com", Kind: "Db"}, "WORKER_DB_MY-APP_EXAMPLE_COM"},
		{"the core group leaves an underscore", schema.GroupVersionKind{Kind: "Secret"}, "WORKER_SECRET_"},
	}
	for _, c := range cases {
		if got := variableName("WORKER", c.gvk); got != c.want {
			t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
		}
	}
}
