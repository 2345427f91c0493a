package runner_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// gatedPlay notes that it was there, with the message that it got, and goes on when nothing bars the way of its resource.
const gatedPlay = idlePlay + `  tasks:
    - name: Note
      ansible.builtin.shell: echo "{{ ansible_operator_meta.name }} {{ message }}" >> DIR/runs
    - name: Wait at the gate
      ansible.builtin.shell: while [ -e DIR/bar-{{ ansible_operator_meta.name }} ]; do sleep 0.1; done
`

// gated prepares an operator whose plays can be held in the middle.
func gated(t *testing.T, gvk schema.GroupVersionKind, keys string) *operator {
	t.Helper()
	return setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, keys), "play.yml": gatedPlay})
}

func (o *operator) bar(name string) { o.write("bar-"+name, "") }

func (o *operator) unbar(name string) {
	o.t.Helper()
	if err := os.Remove(filepath.Join(o.dir, "bar-"+name)); err != nil {
		o.t.Fatal(err)
	}
}

// noted returns what the plays noted, in order.
func (o *operator) noted() []string {
	o.t.Helper()
	text, err := os.ReadFile(filepath.Join(o.dir, "runs"))
	if err != nil && !os.IsNotExist(err) {
		o.t.Fatal(err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// atGate waits until the newest run noted text.
func (o *operator) atGate(text string) {
	o.t.Helper()
	testkit.Eventually(o.t, soon, func(context.Context) error {
		if runs := o.noted(); len(runs) == 0 || runs[len(runs)-1] != text {
			return fmt.Errorf("runs so far: %q, waiting for %q", runs, text)
		}
		return nil
	})
}

func say(text string) map[string]any { return map[string]any{"message": text} }

// Covers UP E7.
func TestChangesDuringARunLeadToOneMore(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := gated(t, gvk, "")
	o.start()
	o.bar("thing")
	thing := o.create(gvk, "thing", say("1"))
	o.atGate("thing 1")
	for _, text := range []string{"2", "3", "4"} {
		o.edit(thing, func(obj *unstructured.Unstructured) { obj.Object["spec"] = say(text) })
	}
	o.unbar("thing")
	o.eventually(gvk, "thing", ready)
	o.create(gvk, "other", say("x")) // what the first would still have set off has had its time when this is done
	o.eventually(gvk, "other", ready)
	if got, want := o.noted(), []string{"thing 1", "thing 4", "other x"}; !slices.Equal(got, want) {
		t.Errorf("runs %q, want %q: one with the newest spec", got, want)
	}
}

// Covers AO 10.4 no. 4.
func TestCancelEndsTheRun(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := gated(t, gvk, "")
	o.start()
	o.bar("thing")
	thing := o.create(gvk, "thing", say("1"))
	o.atGate("thing 1")
	annotate := func(key, value string) {
		o.edit(thing, func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{key: value})
		})
	}
	annotate("chartbook.dev/cancel-requested-at", "2026-05-04T10:00:00Z")
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		return condition(obj, "Stalled", "True", "Cancelled")
	})
	o.eventuallyEvent("thing", "Warning", "Failed", "cancel-requested-at")
	if out, err := exec.Command("pgrep", "-f", filepath.Join(o.dir, "bar-thing")).Output(); err == nil {
		t.Errorf("still running: %s", out)
	}
	o.unbar("thing")
	annotate("chartbook.dev/reconcile-requested-at", "2026-05-04T10:01:00Z")
	o.eventually(gvk, "thing", ready)
	if got, want := o.noted(), []string{"thing 1", "thing 1"}; !slices.Equal(got, want) {
		t.Errorf("runs %q, want %q: a run that was cancelled is not repeated by itself", got, want)
	}
}

// Covers UP B8.
func TestKilledOperatorResumesWhatWasInterrupted(t *testing.T) {
	t.Parallel()
	for _, executor := range []string{"direct", "warm"} {
		t.Run(executor, func(t *testing.T) {
			t.Parallel()
			killedOperatorResumes(t, executor)
		})
	}
}

func killedOperatorResumes(t *testing.T, executor string) {
	t.Helper()
	gvk := kindFor(t)
	o := gated(t, gvk, "  maxConcurrentReconciles: 1\n  executor: "+executor+"\n")
	killed := o.spawn()
	names := []string{"a", "b", "m", "y", "z"}
	for _, name := range names {
		o.create(gvk, name, say("1"))
		o.eventually(gvk, name, ready)
	}
	o.bar("m")
	m, err := o.get(t.Context(), gvk, "m")
	if err != nil {
		t.Fatal(err)
	}
	o.edit(m, func(obj *unstructured.Unstructured) { obj.Object["spec"] = say("2") })
	o.atGate("m 2")
	if executor == "warm" { // whose processes all end by themselves; those of the others are for the next operator to end
		testkit.Eventually(t, soon, func(context.Context) error {
			if all := o.runProcesses(); len(all) < 5 { // zygote, ansible-playbook, its worker, the module, its command
				return fmt.Errorf("only these are there: %q", all)
			}
			return nil
		})
	}
	killed()
	if executor == "warm" {
		testkit.Eventually(t, soon, func(context.Context) error {
			if left := o.runProcesses(); len(left) > 0 {
				return fmt.Errorf("the operator that was killed is outlived by %q", left)
			}
			return nil
		})
	}
	before := len(o.noted())
	o.unbar("m")
	o.start()
	o.eventually(gvk, "m", ready)
	testkit.Eventually(t, soon, func(context.Context) error {
		if n := len(o.noted()); n < before+len(names) {
			return fmt.Errorf("%d runs", n)
		}
		return nil
	})
	if again := o.noted()[before:]; again[0] != "m 2" {
		t.Errorf("after the restart came %q, want first the run that was interrupted", again)
	}
}

// runProcesses returns the command lines of what an operator that was spawned has started: it has the operator's private
// directory in its environment.
func (o *operator) runProcesses() (found []string) {
	private := filepath.Join(o.dir, "private")
	for _, line := range testkit.Processes(func(environ []byte) bool { return strings.Contains(string(environ), private) }) {
		found = append(found, strings.ReplaceAll(line, "\x00", " "))
	}
	return found
}

// Covers UP A4.
func TestRunsOfAllKindsAreBounded(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  maxConcurrentReconciles: 4\n"),
		"play.yml": idlePlay + `  tasks:
    - name: Be alone
      ansible.builtin.shell: mkdir DIR/alone && sleep 0.3 && rmdir DIR/alone
`,
	})
	o.start(func(options *runner.Options) { options.MaxConcurrentRuns = 1 })
	for i := range 4 {
		o.create(gvk, fmt.Sprintf("thing-%d", i), nil)
	}
	for i := range 4 {
		o.eventually(gvk, fmt.Sprintf("thing-%d", i), ready)
	}
	if n := o.log.count(`"outcome":"Transient"`); n != 0 {
		t.Errorf("%d runs met another one", n)
	}
}

// spawn starts the operator as a process of its own. kill ends it as kill -9 does.
func (o *operator) spawn() (kill func()) {
	o.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), spawnedWatches+"="+filepath.Join(o.dir, "watches.yaml"),
		spawnedNamespace+"="+o.namespace, "KUBECONFIG="+testkit.Kubeconfig(o.t))
	output, err := os.Create(filepath.Join(o.t.TempDir(), "log"))
	if err != nil {
		o.t.Fatal(err)
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is killed, which is an error
	}()
	kill = func() {
		_ = cmd.Process.Kill() // it may have ended
		select {
		case <-ended:
		case <-time.After(soon):
			o.t.Error("the operator outlives kill -9")
		}
	}
	o.t.Cleanup(kill)
	return kill
}
