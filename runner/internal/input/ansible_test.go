package input

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/watches"
)

// ansibleSees runs a real playbook with variables and returns what Ansible makes of those with the given names.
func ansibleSees(t *testing.T, vars map[string]any, names ...string) (map[string]any, error) {
	t.Helper()
	program, err := exec.LookPath("ansible-playbook")
	if err != nil {
		t.Fatalf("this test needs ansible-playbook, which make setup installs: %v", err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out.json")
	all := map[string]any{"out": out, "show": names}
	maps.Copy(all, vars)
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "extravars")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-i", "localhost,", "-e", "@"+file, "testdata/ansible/show.yml")
	cmd.Env = append(os.Environ(), "HOME="+dir, "ANSIBLE_LOCAL_TEMP="+dir, "ANSIBLE_NOCOLOR=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Logf("%s", text)
		return nil, err
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.UseNumber()
	var seen map[string]any
	return seen, decoder.Decode(&seen)
}

// jinja is a resource with Jinja in every place that its author can write.
const jinja = `{
	"greeting": "{{ 7*7 }}",
	"pipe": "{{ lookup('pipe', 'echo run') }}",
	"nested": {"aList": ["{{ 1+1 }}", "{% if %}", {"deepKey": "{# gone #}"}]},
	"{{ 2+2 }}": "in a key",
	"big": 9007199254740993,
	"plain": "it's \"quoted\" \\ é\u2028"
}`

var jinjaVars = []string{
	"greeting", "pipe", "nested", "big", "plain", "computed", "chartbook_run", "ansible_operator_meta", "_demo_example_com_sample_spec", "deep",
}

// jinjaRun reaches what a resource's author can write into the run's own variable.
var jinjaRun = Run{ID: "r-1", Trigger: "spec", Reason: "{{ 3*3 }}", ChangedPaths: []string{"spec.{{ 2+2 }}"}, Generation: 1, Attempt: 1}

// Covers AO 10.5 no. 2, UP H5.
func TestAnsibleEvaluatesNothingThatIsMarked(t *testing.T) {
	w := sampleWatch()
	w.MarkUnsafe = true
	w.Vars = map[string]any{"computed": "{{ ansible_operator_meta.name }}-{{ greeting | length }}"}
	obj := object(t, sample(jinja))
	obj["spec"].(map[string]any)["deep"] = nested(maxDepth - 5)
	vars, err := ExtraVars(obj, w, jinjaRun)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := ansibleSees(t, vars, jinjaVars...)
	if err != nil {
		t.Fatal(err)
	}
	spec := map[string]any{
		"greeting":  "{{ 7*7 }}",
		"pipe":      "{{ lookup('pipe', 'echo run') }}",
		"nested":    map[string]any{"aList": []any{"{{ 1+1 }}", "{% if %}", map[string]any{"deepKey": "{# gone #}"}}},
		"{{ 2+2 }}": "in a key",
		"big":       json.Number("9007199254740993"),
		"plain":     "it's \"quoted\" \\ é\u2028",
		"deep":      nested(maxDepth - 5),
	}
	want := map[string]any{
		"greeting":                      spec["greeting"],
		"pipe":                          spec["pipe"],
		"nested":                        map[string]any{"a_list": []any{"{{ 1+1 }}", "{% if %}", map[string]any{"deep_key": "{# gone #}"}}},
		"big":                           spec["big"],
		"plain":                         spec["plain"],
		"deep":                          spec["deep"],
		"computed":                      "one-9", // the watch's own Jinja is evaluated
		"ansible_operator_meta":         map[string]any{"name": "one", "namespace": "here"},
		"_demo_example_com_sample_spec": spec,
		"chartbook_run": map[string]any{
			"id": "r-1", "trigger": "spec", "reason": "{{ 3*3 }}", "schedule": "", "changedPaths": []any{"spec.{{ 2+2 }}"},
			"generation": json.Number("1"), "attempt": json.Number("1"), "deleting": false, "checkMode": false,
		},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// nested is a value that nests so deep.
func nested(depth int) any {
	var value any = "bottom"
	for range depth {
		value = map[string]any{"a": value}
	}
	return value
}

// TestAnsibleEvaluatesWhatIsNotMarked is the other side: without markUnsafe old playbooks get what they always got,
// and only the variable that is new is safe.
func TestAnsibleEvaluatesWhatIsNotMarked(t *testing.T) {
	vars, err := ExtraVars(object(t, sample(`{"greeting":"{{ 7*7 }}"}`)), sampleWatch(), jinjaRun)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := ansibleSees(t, vars, "greeting", "chartbook_run")
	if err != nil {
		t.Fatal(err)
	}
	if got := text(seen["greeting"]); got != "49" {
		t.Errorf("greeting is %s, want 49", got)
	}
	run, _ := seen["chartbook_run"].(map[string]any)
	if run["reason"] != "{{ 3*3 }}" {
		t.Errorf("the reason is %v", run["reason"])
	}
}

// TestMarkersAreNotDataToAnsible shows why a resource with a vault marker is refused: Ansible would not hand the mapping
// to the playbook but decrypt it.
func TestMarkersAreNotDataToAnsible(t *testing.T) {
	marker := map[string]any{"__ansible_vault": "text"}
	seen, err := ansibleSees(t, map[string]any{"x": marker}, "x")
	if err == nil && cmp.Equal(map[string]any{"x": marker}, seen) {
		t.Error("Ansible takes the marker for data now, so that it need not be refused any more")
	}
	if _, err := ExtraVars(map[string]any{"spec": map[string]any{"x": marker}}, watches.Watch{}, someRun); err == nil {
		t.Error("the marker was not refused")
	}
}

func text(v any) string {
	data, _ := json.Marshal(v)
	return strings.Trim(string(data), `"`)
}
