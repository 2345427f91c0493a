package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// secret makes a Secret.
func (o *operator) secret(name string, data map[string]any) *unstructured.Unstructured {
	o.t.Helper()
	return o.create(secrets, name, nil, func(obj *unstructured.Unstructured) { obj.Object["stringData"] = data })
}

const passwordKeys = `  related:
    - {apiVersion: v1, kind: ConfigMap, name: "{{ .spec.settingsName }}", as: settings, optional: true}
  varsFrom:
    - secretKeyRef: {name: "{{ .spec.secretName }}", key: password}
      as: password
`

// The play fails where it should not, with the password in its arguments, and tells what it was given.
const passwordPlay = `- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.copy: {dest: "DIR/{{ ansible_operator_meta.name }}-{{ chartbook_run.id }}", content: "{{ password }} {{ settings.data.size | default('none') }}", mode: "0600"}
    - ansible.builtin.set_stats: {data: {said: "{{ password }}"}}
    - name: Fail with a secret
      ansible.builtin.command: "/bin/sh -c 'echo {{ password }} >&2; exit 1'"
      when: fail | default(false)
`

// UP H9, D7: secrets had to be written into the resource, and their rotation was noticed hours later. UP I3: a task that
// failed told its arguments.
func TestSecretReachesTheRunAndNothingElse(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	const canary, second = "{{canary}}-4711-hunter2", "rotated-0815-hunter3"
	config := testkit.Cluster(t)
	o := setup(t, config, map[string]string{"watches.yaml": watchesFor(gvk, passwordKeys), "play.yml": passwordPlay})
	private := filepath.Join(o.t.TempDir(), "private")
	o.start(func(options *runner.Options) {
		options.Ansible.PrivateDir = private
		options.Ansible.LogEvents = "everything"
	})
	thing := o.create(gvk, "thing", map[string]any{"secretName": "db", "settingsName": "none"})
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error {
		if c, err := testkit.Condition(obj, "Ready"); err != nil || c["reason"] != "RelatedMissing" || !strings.Contains(fmt.Sprint(c["message"]), "Secret db") {
			return fmt.Errorf("Ready is %v, %w", c, err)
		}
		return nil
	})
	secret := o.secret("db", map[string]any{"password": canary})
	o.eventually(gvk, "thing", ready)
	o.saw(canary+" none", 2*time.Second)

	o.edit(secret, func(obj *unstructured.Unstructured) { obj.Object["stringData"] = map[string]any{"password": second} })
	o.saw(second+" none", 10*time.Second)
	o.eventually(gvk, "thing", ready)
	o.edit(thing, set(true, "spec", "fail"))
	o.eventually(gvk, "thing", func(obj *unstructured.Unstructured) error { return condition(obj, "Ready", "False", "TaskFailed") })
	o.stop()
	for _, value := range []string{canary, second} {
		o.absent(gvk, private, value)
	}
}

// saw waits until a run has been given a text.
func (o *operator) saw(text string, within time.Duration) {
	o.t.Helper()
	start := time.Now()
	testkit.Eventually(o.t, soon, func(context.Context) error {
		files, err := filepath.Glob(filepath.Join(o.dir, "thing-*"))
		for _, file := range files {
			if got, _ := os.ReadFile(file); string(got) == text {
				o.t.Logf("seen after %s (aim: %s)", time.Since(start), within)
				return nil
			}
		}
		return errors.Join(err, fmt.Errorf("no run was given %q", text))
	})
}

// absent checks that a secret is neither in the log, nor in status and events, nor in any file of the operator.
func (o *operator) absent(gvk schema.GroupVersionKind, private, secret string) {
	o.t.Helper()
	if n := o.log.count(secret); n > 0 {
		o.t.Errorf("%d lines of the log have the secret", n)
	}
	for _, list := range []schema.GroupVersionKind{{Group: "events.k8s.io", Version: "v1", Kind: "EventList"}, kindList(gvk)} {
		objects := &unstructured.UnstructuredList{}
		objects.SetGroupVersionKind(list)
		if err := o.client.List(o.t.Context(), objects, client.InNamespace(o.namespace)); err != nil {
			o.t.Fatal(err)
		}
		if text := fmt.Sprint(objects.Items); strings.Contains(text, secret) {
			o.t.Errorf("%s has the secret: %s", list.Kind, text)
		}
	}
	err := filepath.WalkDir(private, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			o.t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.t.Error(err)
	}
}

func kindList(gvk schema.GroupVersionKind) schema.GroupVersionKind {
	gvk.Kind += "List"
	return gvk
}

// A resource must not get at Secrets in namespaces of others by the operator's rights.
func TestReferenceToAnotherNamespaceIsRefused(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, `  related:
    - {apiVersion: v1, kind: Secret, name: "{{ .spec.name }}", namespace: "{{ .spec.namespace }}", as: theirs}
`),
		"play.yml": "- hosts: localhost\n  gather_facts: false\n",
	})
	o.start()
	o.create(gvk, "theirs", map[string]any{"name": "x", "namespace": "kube-system"})
	o.create(gvk, "path", map[string]any{"name": "../../kube-system/secrets/x", "namespace": o.namespace})
	o.eventually(gvk, "theirs", func(obj *unstructured.Unstructured) error {
		return condition(obj, "Ready", "False", "CrossNamespaceReference")
	})
	o.eventually(gvk, "path", func(obj *unstructured.Unstructured) error {
		return condition(obj, "Ready", "False", "InvalidReference")
	})
}

// UP G4: cleaning up failed for ever when what the resource referred to had gone before it.
func TestMissingSecretDoesNotHoldADeletedResource(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, passwordKeys+finalizerKeys),
		"play.yml":     "- hosts: localhost\n  gather_facts: false\n",
		"cleanup.yml":  touch("DIR/cleaned", "{{ password | default('nothing', true) }}"),
	})
	secret := o.secret("db", map[string]any{"password": "x"})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"secretName": "db"})
	o.eventually(gvk, "thing", ready)
	o.delete(secret)
	o.delete(thing)
	o.gone(gvk, "thing")
	if text, err := os.ReadFile(filepath.Join(o.dir, "cleaned")); err != nil || string(text) != "nothing" {
		t.Errorf("the cleaning run left %q, %v", text, err)
	}
}

// UP H8: one vault password for all was what could be had.
func TestTwoVaultPasswords(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, `  vaultPasswordSecretRef: {name: "{{ .metadata.name }}-vault", key: password}
  env: {WHO: somebody}
`),
		"play.yml": `- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.include_vars: "DIR/{{ ansible_operator_meta.name }}.yml"
    - ansible.builtin.set_stats: {data: {decrypted: "{{ vaulted }}", who: "{{ lookup('env', 'WHO') }}"}}
`,
	})
	for _, name := range []string{"one", "two"} {
		o.encrypt(name+".yml", "vaulted: text of "+name+"\n", "password-of-"+name)
		o.secret(name+"-vault", map[string]any{"password": "password-of-" + name})
	}
	o.start()
	for _, name := range []string{"one", "two"} {
		o.create(gvk, name, map[string]any{})
		obj := o.eventually(gvk, name, ready)
		if outputs, _, _ := unstructured.NestedStringMap(obj.Object, "status", "outputs"); outputs["decrypted"] != "text of "+name || outputs["who"] != "somebody" {
			t.Errorf("outputs of %s are %v", name, outputs)
		}
	}
}

// UP K6: a chart's values could not come from a Secret.
func TestChartValuesFromSecret(t *testing.T) {
	t.Parallel()
	o, gvk := chartOperator(t, `  valuesFrom:
    - secretKeyRef: {name: "{{ .spec.secretName }}", key: message}
      targetPath: message
    - secretKeyRef: {name: extra, key: values.yaml, optional: true}
`)
	secret := o.secret("db", map[string]any{"message": "from the secret"})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"secretName": "db"})
	o.eventually(gvk, "thing", ready)
	o.eventually(configMaps, "thing", message("from the secret"))
	o.wantRevisions("thing", 1)
	o.edit(secret, func(obj *unstructured.Unstructured) { obj.Object["stringData"] = map[string]any{"message": "rotated"} })
	o.eventually(configMaps, "thing", message("rotated"))
	o.wantRevisions("thing", 2)
	o.edit(thing, set("the spec wins", "spec", "message"))
	o.eventually(configMaps, "thing", message("the spec wins"))
}

// encrypt writes a file as ansible-vault does.
func (o *operator) encrypt(name, text, password string) {
	o.t.Helper()
	o.write(name, text)
	o.write("password", password)
	cmd := exec.Command("ansible-vault", "encrypt", "--vault-password-file", filepath.Join(o.dir, "password"), filepath.Join(o.dir, name))
	if out, err := cmd.CombinedOutput(); err != nil {
		o.t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}
