package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// count waits until so many runs were noted whose text begins with prefix.
func (o *operator) count(prefix string, want int) {
	o.t.Helper()
	testkit.Eventually(o.t, soon, func(context.Context) error {
		n := 0
		for _, run := range o.noted() {
			if strings.HasPrefix(run, prefix) {
				n++
			}
		}
		if n < want {
			return fmt.Errorf("%d runs of %q, want %d", n, prefix, want)
		}
		return nil
	})
}

// Covers UP E5.
func TestRetriesEndWithTheBudget(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  reconcilePeriod: 1s\n  retry: {limit: 1, backoff: 100ms}\n"),
		"play.yml": idlePlay + `  tasks:
    - name: Note
      ansible.builtin.shell: echo "{{ ansible_operator_meta.name }}" >> DIR/runs
    - name: Fail
      ansible.builtin.fail: {msg: disk full}
      when: not (good | default(false))
`,
	})
	o.start()
	thing := o.create(gvk, "thing", nil)
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		return condition(obj, "Stalled", "True", "TaskFailed")
	})
	o.create(gvk, "other", map[string]any{"good": true}) // what the first would still set off has had its time
	o.count("other", 3)
	o.edit(thing, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{"chartbook.dev/reconcile-requested-at": "now"})
	})
	o.count("thing", 3)
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		return condition(obj, "Stalled", "True", "TaskFailed")
	})
	if n := len(slices.DeleteFunc(o.noted(), func(run string) bool { return run != "thing" })); n != 3 {
		t.Errorf("%d runs, want one, its repetition, and the one that was asked for", n)
	}
	o.edit(thing, func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"good": true} })
	o.eventually(gvk, "thing", ready)
}

// UP A2 and A3: with resync: changed a period or a restart runs nothing that did not change.
// Covers AO 10.3 no. 2.
func TestResyncOfWhatChanged(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	pacemaker := gvk
	pacemaker.Kind = "Pacemaker"
	testkit.InstallCRD(t, testkit.Cluster(t), pacemaker)
	play := strings.Replace(keepConfigMap, "  tasks:\n", `  tasks:
    - name: Note
      ansible.builtin.shell: echo "{{ ansible_operator_meta.name }}" >> DIR/runs
`, 1)
	o := setup(t, testkit.Cluster(t), map[string]string{
		// What plays note lies beside their directory: a file in it would count as changed content.
		"watches.yaml": strings.ReplaceAll(watchesFor(gvk, "  reconcilePeriod: 1s\n  resync: changed\n")+
			watchesFor(pacemaker, "  reconcilePeriod: 1s\n"), "DIR/play.yml", "DIR/content/play.yml"),
		"content/play.yml": play,
	})
	runs := func(want int, why string) {
		t.Helper()
		if n := len(slices.DeleteFunc(o.noted(), func(run string) bool { return run != "thing" })); n != want {
			t.Errorf("%d runs, want %d: %s", n, want, why)
		}
	}
	o.start()
	o.create(gvk, "thing", say("one"))
	o.eventually(gvk, "thing", ready)
	o.create(pacemaker, "pace", say("x"))
	o.count("pace", 4)
	runs(1, "periods went by and nothing changed")

	child, err := o.get(t.Context(), configMaps, "thing")
	if err != nil {
		t.Fatal(err)
	}
	o.edit(child, func(obj *unstructured.Unstructured) { obj.Object["data"] = map[string]any{"message": "by hand"} })
	o.eventually(configMaps, "thing", message("one"))
	o.count("thing", 2)

	o.stop()
	passed := len(o.noted())
	o.start()
	o.count("pace", passed-2+4)
	runs(2, "a restart runs nothing that is not due")

	o.stop()
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(o.dir, "content", "play.yml"), later, later); err != nil {
		t.Fatal(err)
	}
	o.start()
	o.count("thing", 3)
}

// Covers UP E9.
func TestScheduleRunsAtItsTimes(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  schedule:\n    - {name: backup, cron: '@every 2s'}\n    - {name: yearly, cron: '@yearly'}\n"),
		"play.yml": idlePlay + `  tasks:
    - name: Note
      ansible.builtin.shell: echo "{{ chartbook_run.trigger }} {{ chartbook_run.schedule }}" >> DIR/runs
`,
	})
	o.start()
	o.create(gvk, "thing", nil)
	o.count("schedule backup", 2)
	if first := o.noted()[0]; strings.Contains(first, "schedule") {
		t.Errorf("the first run is %q", first)
	}
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		at, _, _ := unstructured.NestedString(obj.Object, "status", "run", "schedules", "backup")
		if _, err := time.Parse(time.RFC3339, at); err != nil {
			return errors.New("status does not say which time was granted")
		}
		return nil
	})
}
