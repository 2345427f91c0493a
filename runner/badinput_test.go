package runner_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// failsWith waits until Ready is False for a reason and its message holds a text.
func (o *operator) failsWith(thing *unstructured.Unstructured, reason, text string) *unstructured.Unstructured {
	o.t.Helper()
	return o.eventually(thing.GroupVersionKind(), thing.GetName(), func(obj *unstructured.Unstructured) error {
		c, err := testkit.Condition(obj, "Ready")
		if err == nil && (c["status"] != "False" || c["reason"] != reason || !strings.Contains(fmt.Sprint(c["message"]), text)) {
			err = fmt.Errorf("Ready is %v, want False/%s with %q", c, reason, text)
		}
		return err
	})
}

// Covers AO 10.1 no. 10, UP H3, H4, H5.
func TestRefusedSpecs(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": idlePlay})
	o.start()
	tests := map[string]struct {
		spec         map[string]any
		reason, text string
	}{
		"two keys become one variable": {map[string]any{"dataDir": "a", "data_dir": "b"}, "VariableClash", "data_dir"},
		"an empty key":                 {map[string]any{"": "a"}, "EmptyKey", "spec"},
		"a variable of Ansible's own":  {map[string]any{"ansible_connection": "ssh"}, "ReservedVariable", "ansible_connection"},
	}
	i := 0
	for name, tt := range tests {
		i++
		thing := o.create(gvk, fmt.Sprintf("thing-%d", i), tt.spec)
		t.Log(name)
		o.failsWith(thing, tt.reason, tt.text)
	}
	o.create(gvk, "no-spec", nil)
	o.eventually(gvk, "no-spec", ready)
	o.create(gvk, "large", map[string]any{"text": strings.Repeat("x", 500<<10)})
	o.eventually(gvk, "large", ready)
	braces := "{{ lookup('pipe', 'touch " + filepath.Join(o.dir, "broken-out") + "') }}"
	o.create(gvk, "braces", map[string]any{"a": braces, "b": []any{braces, map[string]any{"c": braces}}})
	o.eventually(gvk, "braces", ready)
	if _, err := os.Stat(filepath.Join(o.dir, "broken-out")); err == nil {
		t.Error("text of a spec was evaluated")
	}
}

// Covers AO 10.4 no. 4, UP B7.
func TestPlaybookThatNeverEnds(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  timeout: 8s\n"),
		"play.yml":     idlePlay + "  tasks:\n    - name: Wait for ever\n      ansible.builtin.command: sleep 4242.1\n",
	})
	o.start()
	o.failsWith(o.create(gvk, "thing", nil), "DeadlineExceeded", "8s")
	testkit.Eventually(t, soon, func(context.Context) error {
		if out, err := exec.Command("pgrep", "-f", "sleep 4242.1").Output(); err == nil {
			return fmt.Errorf("still running: %s", out)
		}
		return nil
	})
}

// Covers UP F4.
func TestPlaybookThatIsKilled(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, ""),
		// The first time the play kills its own ansible-playbook: a lookup runs in a worker, whose parent that is.
		"play.yml": idlePlay + `  tasks:
    - name: Once
      ansible.builtin.command: {cmd: touch DIR/killed, creates: DIR/killed}
      register: once
    - name: Kill
      ansible.builtin.command: kill -9 {{ lookup('ansible.builtin.pipe', 'ps -o ppid= -p $PPID') }}
      when: once.changed
`,
	})
	o.start()
	o.create(gvk, "thing", nil)
	o.eventuallyEvent("thing", "Warning", "Failed", "Killed")
	o.eventually(gvk, "thing", ready)
}

// Covers AO 10.3 no. 5.
func TestPlaybookThatPrints50MB(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, ""),
		"play.yml":     idlePlay + "  tasks:\n    - name: Talk\n      ansible.builtin.shell: head -c 52428800 /dev/zero | tr '\\0' x\n      changed_when: false\n",
	})
	private := ""
	o.start(func(options *runner.Options) { private = options.Ansible.PrivateDir })
	o.create(gvk, "thing", nil)
	o.eventually(gvk, "thing", ready)
	var bytes int64
	err := filepath.WalkDir(private, func(_ string, entry os.DirEntry, err error) error {
		if info, infoErr := entry.Info(); err == nil && infoErr == nil {
			bytes += info.Size()
		}
		return err
	})
	if err != nil || bytes > 20<<20 {
		t.Errorf("the artifacts of one talkative run take %d bytes, %v", bytes, err)
	}
}

// Covers AO 10.1 no. 7, UP F4.
func TestSyntaxErrorNamesThePlace(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, ""),
		"play.yml":     idlePlay + "  tasks:\n    - name: Odd\n      ansible.builtin.debug: [\n",
	})
	o.start()
	thing := o.failsWith(o.create(gvk, "thing", nil), "SyntaxError", "play.yml:")
	if err := testkit.HasCondition(thing, "Stalled", "True"); err != nil {
		t.Error(err)
	}
}

func TestKindWithoutStatusSubresource(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t, testkit.WithoutStatus)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": keepConfigMap})
	o.start()
	o.create(gvk, "thing", map[string]any{"message": "one"})
	o.eventually(configMaps, "thing", message("one"))
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		if record := obj.GetAnnotations()["chartbook.dev/status"]; !strings.Contains(record, `"Succeeded"`) {
			return fmt.Errorf("the record is %q", record)
		}
		return nil
	})
	o.eventuallyEvent("thing", "Warning", "NoStatusSubresource", "subresources.status")
}

func TestAPIServerRestartsInTheMiddleOfARun(t *testing.T) {
	cluster := testkit.NewPrivate(t)
	config := cluster.Config(t)
	gvk := kindFor(t)
	testkit.InstallCRD(t, config, gvk)
	o := setup(t, config, map[string]string{
		"watches.yaml": watchesFor(gvk, ""),
		"play.yml": touch("DIR/started", "yes") + "    - ansible.builtin.wait_for: {path: DIR/go, timeout: 60}\n" +
			strings.TrimPrefix(keepConfigMap, "\n- hosts: localhost\n  gather_facts: false\n  tasks:\n"),
	})
	o.start()
	o.create(gvk, "thing", map[string]any{"message": "survived"})
	testkit.Eventually(t, soon, func(context.Context) error {
		_, err := os.Stat(filepath.Join(o.dir, "started"))
		return err
	})
	cluster.RestartAPIServer(t)
	o.write("go", "yes")
	o.eventually(configMaps, "thing", message("survived"))
	o.eventually(gvk, "thing", ready)
}
