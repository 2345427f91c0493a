package runner_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// tellingPlay does all that tells what a Secret holds: prints it encoded and decoded, loops over it, hands it to commands,
// puts it into names, outputs and the words with which it fails.
const tellingPlay = `
- hosts: localhost
  gather_facts: false
  vars:
    token: "{{ __secret.data.token | b64decode }}"
    key: "{{ __secret.data.key | b64decode }}"
  tasks:
    - name: Print all
      ansible.builtin.debug: {var: __secret}
    - name: "Print {{ token }}"
      debug: {msg: "the token is {{ token }}"}
    - name: Loop
      ansible.builtin.debug: {msg: "line {{ item }}"}
      loop: "{{ key.splitlines() }}"
    - name: Fail and go on
      ansible.builtin.command: {argv: [sh, -c, "echo {{ token | quote }} >&2; exit 3"]}
      ignore_errors: true
    - ansible.builtin.set_stats: {data: {token: "{{ token }}"}}
    - name: Hide
      ansible.builtin.debug: {msg: "hidden words"}
      no_log: true
    - name: Fail
      ansible.builtin.fail: {msg: "cannot log in with {{ token }} at the server"}
`

// The old tool put whatever a task printed, or failed with, into log and status (UP I3), so that people set no_log and then
// did not see why a task had failed (UP I4). A Secret as primary is AO 9.3's SecretsTest.
// Covers AO 10.5 no. 3.
func TestSecretsAreToldNowhere(t *testing.T) {
	t.Parallel()
	const token, line = `hunter2-"quoted"&-ünï`, "aLongEnoughLineOfAKey"
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": "- version: v1\n  kind: Secret\n  playbook: DIR/play.yml\n  markUnsafe: true\n  selector:\n    matchLabels: {telling: \"yes\"}\n",
		"play.yml":     tellingPlay,
	})
	private := filepath.Join(t.TempDir(), "private")
	o.start(func(options *runner.Options) {
		options.Ansible.Verbosity = 4
		options.Ansible.LogEvents = "everything"
		options.Ansible.PrivateDir = private
	})
	encode := func(s string) any { return base64.StdEncoding.EncodeToString([]byte(s)) }
	o.create(secrets, "telling", nil, func(obj *unstructured.Unstructured) {
		obj.SetLabels(map[string]string{"telling": "yes"})
		obj.Object["data"] = map[string]any{"token": encode(token), "key": encode("first " + line + "\nsecond " + line + "\n")}
		delete(obj.Object, "spec")
	})
	const said = "cannot log in with [redacted] at the server"
	secret := o.eventually(secrets, "telling", func(obj *unstructured.Unstructured) error {
		if record := obj.GetAnnotations()["chartbook.dev/status"]; !strings.Contains(record, said) {
			return fmt.Errorf("the record does not say why the run failed: %s", record)
		}
		return nil
	})
	told := map[string]string{"the log": o.log.text(), "the record": fmt.Sprint(secret.GetAnnotations()), "an event": eventsOf(t, o)}
	maps.Copy(told, artifactsIn(t, private))
	if len(told) < 10 {
		t.Errorf("there are only %d texts to look through", len(told))
	}
	for where, text := range told {
		for _, form := range formsOfSecret(t, token, line) {
			if strings.Contains(text, form) {
				t.Errorf("%s has %q", where, form)
			}
		}
		if strings.Contains(text, "hidden words") {
			t.Errorf("%s has what no_log hides", where)
		}
	}
	for _, want := range []string{said, `"msg":"[playbook debug]"`, "the token is [redacted]", `"msg":"[playbook task failed]"`} {
		if !strings.Contains(o.log.text(), want) {
			t.Errorf("the log does not have %s", want)
		}
	}
	if !strings.Contains(told["an event"], said) {
		t.Errorf("no event says why the run failed:\n%s", told["an event"])
	}
}

// formsOfSecret returns in which forms a Secret's content would give it away.
func formsOfSecret(t *testing.T, secrets ...string) []string {
	t.Helper()
	var forms []string
	for _, secret := range secrets {
		escaped, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.Trim(string(escaped), `"`)
		forms = append(forms, secret, plain, strings.ReplaceAll(plain, `\`, `\\`), strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "="))
	}
	return append(forms, "hunter2")
}

func eventsOf(t *testing.T, o *operator) string {
	t.Helper()
	var text strings.Builder
	testkit.Eventually(t, soon, func(ctx context.Context) error {
		text.Reset()
		var list eventsv1.EventList
		if err := o.client.List(ctx, &list, client.InNamespace(o.namespace)); err != nil {
			return err
		}
		for _, event := range list.Items {
			fmt.Fprintln(&text, event.Note)
		}
		if len(list.Items) == 0 {
			return errors.New("there is no event")
		}
		return nil
	})
	return text.String()
}

// artifactsIn returns the files that runs leave behind. They come and go while the operator runs.
func artifactsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !entry.Type().IsRegular() || !strings.Contains(path, "/artifacts/") {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
