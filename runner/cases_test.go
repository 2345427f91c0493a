package runner_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// A moleculeCase is a case of the old tool's own tests on a cluster (AO 9.2 and 9.3): a kind with its entry of
// watches.yaml, its playbook, and what is to come of its resources. The other cases need no resource, see defects.txt.
type moleculeCase struct {
	kind  string
	group string // a prefix of the group
	keys  string // of the entry, beside its kind and playbook
	play  string // tasks
	check func(o *operator, gvk schema.GroupVersionKind)
}

// TestMoleculeCases runs all cases in one operator, which watches all namespaces.
func TestMoleculeCases(t *testing.T) {
	t.Parallel()
	cases := []moleculeCase{
		reconciliationCase, selectorCase, secretCase, clusterAnnotationCase, typesCase, blacklistCase,
		sameKindCase("one."), sameKindCase("two."),
	}
	o := setup(t, testkit.Cluster(t), nil)
	kinds := make([]schema.GroupVersionKind, len(cases))
	var file strings.Builder
	for i, c := range cases {
		kinds[i] = schema.GroupVersionKind{Group: c.group + ownGroup(t), Version: "v1", Kind: c.kind}
		if c.kind == "Secret" {
			kinds[i] = secrets
		} else {
			testkit.InstallCRD(t, o.config, kinds[i])
		}
		play := fmt.Sprintf("play-%d.yml", i)
		o.write(play, idlePlay+"  tasks:\n"+strings.ReplaceAll(c.play, "GROUP", kinds[i].Group))
		// All entries of the old tests have vars with Jinja in them.
		fmt.Fprintf(&file, "- group: %q\n  version: v1\n  kind: %s\n  playbook: DIR/%s\n  vars: {meta: '{{ ansible_operator_meta }}'}\n%s",
			kinds[i].Group, c.kind, play, c.keys)
	}
	o.write("watches.yaml", file.String())
	o.start(func(options *runner.Options) { options.Namespaces = nil })
	for i, c := range cases {
		t.Run(c.kind+strings.TrimSuffix(c.group, "."), func(t *testing.T) {
			t.Parallel()
			mine := *o
			mine.t, mine.cancel = t, nil
			c.check(&mine, kinds[i])
		})
	}
}

// AO 9.3 ReconciliationTest: again after a second until a counter reaches 5. The request comes first and the tasks after it
// go on for longer than it asks for: the old tool took their kubeconfig away and let the next run begin beside them
// (AO 10.1 no. 4, UP E1).
var reconciliationCase = moleculeCase{
	kind: "Reconciliation",
	play: `    - ansible.builtin.set_fact:
        n: "{{ lookup('pipe', 'mkdir DIR/alone && echo x >> DIR/counter && wc -l < DIR/counter') }}"
    - operator_sdk.util.requeue_after: {time: 1s}
      when: n | int < 5
    - ansible.builtin.set_fact: {slept: "{{ lookup('pipe', 'sleep 2') }}"}
      when: n | int == 1
    - kubernetes.core.k8s:
        definition:
          apiVersion: v1
          kind: ConfigMap
          metadata: {name: "{{ meta.name }}", namespace: "{{ meta.namespace }}"}
          data: {message: "{{ n }}"}
    - ansible.builtin.set_fact: {over: "{{ lookup('pipe', 'rmdir DIR/alone') }}"}
`,
	check: func(o *operator, gvk schema.GroupVersionKind) {
		o.create(gvk, "counting", nil)
		o.eventually(configMaps, "counting", message("5"))
		o.eventuallyRuns("counting", "", 5)
		o.eventually(gvk, "counting", func(obj *unstructured.Unstructured) error {
			return testkit.HasCondition(obj, "Successful", "True")
		})
		if n := o.log.count(`"name":"counting"`, `"outcome":"Changed"`); n != 5 {
			o.t.Errorf("%d good runs, want 5\n%s", n, o.log.text())
		}
	},
}

// AO 9.3 SelectorTest. A label that comes late counts, too (AO 10.1 no. 17).
var selectorCase = moleculeCase{
	kind: "Selector", keys: "  selector: {matchLabels: {testLabel: testValue}}\n",
	play: "    - ansible.builtin.debug: {msg: hello}\n",
	check: func(o *operator, gvk schema.GroupVersionKind) {
		label := func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"testLabel": "testValue"}) }
		without := o.create(gvk, "without", nil)
		o.create(gvk, "with", nil, label)
		o.eventually(gvk, "with", ready)
		if n := o.runs("without", ""); n != 0 {
			o.t.Errorf("%d runs of a resource outside the selector", n)
		}
		o.edit(without, label)
		o.eventually(gvk, "without", ready)
	},
}

// AO 9.3 SecretsTest: a built-in kind without a status of which nothing is to be written (AO 10.1 no. 8).
var secretCase = moleculeCase{
	kind: "Secret", keys: "  manageStatus: false\n  selector: {matchLabels: {molecule: NAMESPACE}}\n",
	play: `    - kubernetes.core.k8s:
        definition:
          apiVersion: v1
          kind: ConfigMap
          metadata: {name: "{{ meta.name }}-copy", namespace: "{{ meta.namespace }}"}
          data: {message: "{{ __secret.data.size | b64decode }}"}
`,
	check: func(o *operator, gvk schema.GroupVersionKind) {
		size := func(text string) map[string]any {
			return map[string]any{"size": base64.StdEncoding.EncodeToString([]byte(text))}
		}
		secret := o.create(gvk, "watched", nil, func(obj *unstructured.Unstructured) {
			obj.SetLabels(map[string]string{"molecule": o.namespace})
			obj.Object["data"] = size("3")
		})
		o.eventually(configMaps, "watched-copy", message("3"))
		o.edit(secret, func(obj *unstructured.Unstructured) { obj.Object["data"] = size("4") })
		o.eventually(configMaps, "watched-copy", message("4"))
		o.eventuallyRuns("watched", "", 2)
		after, err := o.get(o.t.Context(), gvk, "watched")
		if err != nil {
			o.t.Fatal(err)
		}
		if after.Object["status"] != nil || len(after.GetAnnotations()) > 0 || len(after.GetFinalizers()) > 0 {
			o.t.Errorf("something was written to the Secret: %v", after.Object["metadata"])
		}
	},
}

// AO 9.3 ClusterAnnotationTest: children of which the resource cannot be the owner have its name in annotations, and are
// put right all the same.
var clusterAnnotationCase = moleculeCase{
	kind: "ClusterAnnotation", keys: "  watchClusterScopedResources: true\n",
	play: `    - kubernetes.core.k8s:
        definition:
          - apiVersion: v1
            kind: Namespace
            metadata: {name: "{{ meta.namespace }}-other", labels: {owned: "yes"}}
          - apiVersion: v1
            kind: ConfigMap
            metadata: {name: externalnamespace, namespace: "{{ meta.namespace }}-other"}
            data: {message: from afar}
`,
	check: func(o *operator, gvk schema.GroupVersionKind) {
		o.create(gvk, "far", nil)
		o.eventually(gvk, "far", ready)
		other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.namespace + "-other"}}
		o.t.Cleanup(func() { _ = o.client.Delete(context.Background(), other) })
		child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "externalnamespace", Namespace: other.Name}}
		for _, obj := range []client.Object{other, child} {
			if err := o.client.Get(o.t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
				o.t.Fatal(err)
			}
			for key, want := range map[string]string{
				"operator-sdk/primary-resource":      o.namespace + "/far",
				"operator-sdk/primary-resource-type": gvk.Kind + "." + gvk.Group,
			} {
				if got := obj.GetAnnotations()[key]; got != want {
					o.t.Errorf("annotation %s of %s is %q, want %q", key, obj.GetName(), got, want)
				}
			}
			if len(obj.GetOwnerReferences()) > 0 {
				o.t.Errorf("%s has owner references, which are not legal here: %v", obj.GetName(), obj.GetOwnerReferences())
			}
		}
		edited := other.DeepCopy()
		edited.Labels["owned"] = "by-hand"
		if err := o.client.Patch(o.t.Context(), edited, client.MergeFrom(other)); err != nil {
			o.t.Fatal(err)
		}
		testkit.Eventually(o.t, soon, func(ctx context.Context) error {
			if err := o.client.Get(ctx, client.ObjectKeyFromObject(other), other); err != nil {
				return err
			}
			if got := other.Labels["owned"]; got != "yes" {
				return fmt.Errorf("the label is %q", got)
			}
			return nil
		})
	},
}

// AO 9.3 CaseTest: names stay as they are. Values arrive with their types (UP H11), and braces anywhere in the resource are
// data that conditions can be about (UP H6).
var typesCase = moleculeCase{
	kind: "Case", keys: "  snakeCaseParameters: false\n  markUnsafe: true\n",
	play: `    - ansible.builtin.assert:
        that:
          - camelCaseVar == "value"
          - whole is integer and whole >= 3
          - half is float and half == 0.5
          - flag is boolean and flag
          - word is string and word == "true"
          - nothing is none
          - emptyList is sequence and emptyList | length == 0
          - beyond is integer and beyond == 9007199254740993
    - ansible.builtin.assert:
        that: inBraces | length > 0 and inBraces[0] == "{" ~ "{ 7*7 }" ~ "}"
      when: inBraces | length > 0 and inBraces[0] is not match("49") and whole > 2
      register: looked
    - ansible.builtin.fail: {msg: the condition was not met}
      when: looked is skipped
    - operator_sdk.util.k8s_status:
        api_version: GROUP/v1
        kind: Case
        name: "{{ meta.name }}"
        namespace: "{{ meta.namespace }}"
        status: {note: "{{ inBraces[0] }}"}
`,
	check: func(o *operator, gvk schema.GroupVersionKind) {
		const braces = "{{ 7*7 }}"
		thing := o.create(gvk, "typed", map[string]any{
			"camelCaseVar": "value", "whole": int64(3), "half": 0.5, "flag": true, "word": "true", "nothing": nil,
			"emptyList": []any{}, "beyond": int64(9007199254740993), "inBraces": []any{braces, "{% if %}"}, braces: "a name",
		}, func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"braces": braces + "{% raw %}{#"})
		})
		o.eventually(gvk, "typed", ready)
		o.edit(thing, set(int64(4), "spec", "whole")) // a run that begins with braces in status, too
		if err := field(braces, "status", "note")(o.eventually(gvk, "typed", ready)); err != nil {
			o.t.Error(err)
		}
	},
}

// AO 9.2: a kind on the blacklist wakes nobody; the others do, and the number of replicas follows the resource.
var blacklistCase = moleculeCase{
	kind: "Blacklist", keys: "  blacklist: [{group: '', version: v1, kind: ConfigMap}]\n",
	play: `    - kubernetes.core.k8s:
        definition:
          - apiVersion: v1
            kind: ConfigMap
            metadata: {name: "{{ meta.name }}-unwatched", namespace: "{{ meta.namespace }}"}
            data: {message: made}
          - apiVersion: apps/v1
            kind: Deployment
            metadata: {name: "{{ meta.name }}", namespace: "{{ meta.namespace }}"}
            spec:
              replicas: "{{ size }}"
              selector: {matchLabels: {app: memcached}}
              template:
                metadata: {labels: {app: memcached}}
                spec: {containers: [{name: memcached, image: "memcached:1.4"}]}
`,
	check: func(o *operator, gvk schema.GroupVersionKind) {
		replicas := func(n int64) func(*unstructured.Unstructured) error { return field(n, "spec", "replicas") }
		thing := o.create(gvk, "listed", map[string]any{"size": int64(1)})
		o.eventually(gvk, "listed", ready)
		ignored, err := o.get(o.t.Context(), configMaps, "listed-unwatched")
		if err != nil {
			o.t.Fatal(err)
		}
		o.edit(ignored, set("by hand", "data", "message"))
		web := o.eventually(deployments, "listed", replicas(1))
		o.create(gvk, "other", map[string]any{"size": int64(1)})
		o.eventually(gvk, "other", ready) // what the edit would have set off has had its time
		if n := o.runs("listed", ""); n != 1 {
			o.t.Errorf("%d runs after an edit of what is on the blacklist, want the first one only", n)
		}
		o.edit(web, set(int64(2), "spec", "replicas"))
		o.eventually(deployments, "listed", replicas(1))
		o.eventually(configMaps, "listed-unwatched", message("made"))
		o.edit(thing, set(int64(2), "spec", "size"))
		o.eventually(deployments, "listed", replicas(2))
		if n := o.runs("listed", "dependent"); n != 1 {
			o.t.Errorf("%d runs because of children, want the one for the Deployment", n)
		}
	},
}

// sameKindCase is one of two kinds that differ in nothing but their group. The old tool did not start with them
// (AO 10.1 no. 2).
func sameKindCase(group string) moleculeCase {
	return moleculeCase{
		kind: "Same", group: group,
		play: "    - ansible.builtin.set_stats: {data: {group: \"" + group + "\"}}\n",
		check: func(o *operator, gvk schema.GroupVersionKind) {
			o.create(gvk, "same", nil)
			got := o.eventually(gvk, "same", ready)
			if err := field(group, "status", "outputs", "group")(got); err != nil {
				o.t.Errorf("it is not this kind's playbook that was run: %v", err)
			}
		},
	}
}
