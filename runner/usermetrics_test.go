package runner_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// reportMetrics re-creates the metrics of the old tool's own tests (AO 9.3), and shows that a gauge can be set to zero.
const reportMetrics = `
- hosts: localhost
  gather_facts: false
  tasks:
    - operator_sdk.util.osdk_metric: "{{ {'description': 'A metric of the test'} | combine(item) }}"
      loop:
        - {name: sanity_counter, counter: {}}
        - {name: sanity_gauge, gauge: {}}
        - {name: sanity_histogram, histogram: {}}
        - {name: sanity_summary, summary: {}}
        - {name: counter_inc_test, counter: {increment: true}}
        - {name: counter_add_test, counter: {add: 2}}
        - {name: gauge_set_test, gauge: {set: 5}}
        - {name: gauge_add_test, gauge: {add: 7}}
        - {name: gauge_sub_test, gauge: {subtract: 7}}
        - {name: gauge_time_test, gauge: {set_to_current_time: true}}
        - {name: summary_test, summary: {observe: 2}}
        - {name: histogram_test, histogram: {observe: 2}}
        - {name: gauge_zero_test, gauge: {set: 3}}
        - {name: gauge_zero_test, gauge: {set: 0}}
    - operator_sdk.util.osdk_metric: {name: go_goroutines, description: x, gauge: {set: 1}}
      register: refused
      failed_when: "'are the operator' not in refused.msg"
    - name: An old caller
      operator_sdk.util.osdk_metric: {name: gauge_set_test, description: x, gauge: {set: 4}, address: "{{ old_address }}"}
`

// userMetric returns a metric of a resource; with an empty name that of callers without labels. Nil if it is not there.
func (o *operator) userMetric(metric, name string) *dto.Metric {
	o.t.Helper()
	families, err := o.metrics.Gather()
	if err != nil {
		o.t.Fatalf("gather the metrics: %v", err)
	}
	for _, family := range families {
		if family.GetName() != metric {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, pair := range m.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			if labels["name"] == name && (name == "" || (labels["namespace"] == o.namespace && labels["kind"] == "Thing")) {
				return m
			}
		}
	}
	return nil
}

// observed is what the summaries and histograms of reportMetrics were told; the others are empty.
var observed = map[string]float64{"summary_test": 2, "histogram_test": 2}

// Covers AO 9.3 user metrics, AO 10.1 no. 16, UP F9.
func TestMetricsOfPlaybooks(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	address := freeAddress(t)
	o := setup(t, testkit.Cluster(t), map[string]string{
		"watches.yaml": watchesFor(gvk, "  vars: {old_address: \"http://"+address+"/metrics\"}\n"), "play.yml": reportMetrics,
	})
	o.start(func(options *runner.Options) { options.Metrics.UserAddress = address })
	thing := o.create(gvk, "thing", map[string]any{})
	o.create(gvk, "other", map[string]any{})
	o.eventually(gvk, "thing", ready)
	o.eventually(gvk, "other", ready)

	for metric, want := range map[string]float64{
		"sanity_counter": 0, "sanity_gauge": 0, "counter_inc_test": 1, "counter_add_test": 2, "gauge_set_test": 5,
		"gauge_add_test": 7, "gauge_sub_test": -7, "gauge_zero_test": 0,
	} {
		if m := o.userMetric(metric, "thing"); m == nil || m.GetCounter().GetValue()+m.GetGauge().GetValue() != want {
			t.Errorf("%s is %v, want %v", metric, m, want)
		}
	}
	if m := o.userMetric("gauge_time_test", "thing"); m.GetGauge().GetValue() < 1e9 {
		t.Errorf("gauge_time_test is %v", m)
	}
	for _, name := range []string{"sanity_summary", "summary_test"} {
		if m := o.userMetric(name, "thing"); m == nil || m.GetSummary().GetSampleSum() != observed[name] {
			t.Errorf("%s is %v, want the sum %v", name, m, observed[name])
		}
	}
	for _, name := range []string{"sanity_histogram", "histogram_test"} {
		if h := o.userMetric(name, "thing").GetHistogram(); len(h.GetBucket()) == 0 || h.GetSampleSum() != observed[name] {
			t.Errorf("%s is %v, want buckets and the sum %v", name, h, observed[name])
		}
	}
	if m := o.userMetric("gauge_set_test", ""); m.GetGauge().GetValue() != 4 {
		t.Errorf("what an old caller said is %v, want 4 without labels", m)
	}

	o.delete(thing)
	o.gone(gvk, "thing")
	testkit.Eventually(t, soon, func(context.Context) error {
		if m := o.userMetric("counter_inc_test", "thing"); m != nil {
			return fmt.Errorf("the metrics of what is gone are still there: %v", m)
		}
		return nil
	})
	if o.userMetric("counter_inc_test", "other") == nil || o.userMetric("gauge_set_test", "") == nil {
		t.Error("metrics of others are gone too")
	}
}

// TestTakenMetricsPort: another operator, or anything else, has the port; runs report all the same.
// Covers UP C10.
func TestTakenMetricsPort(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": `
- hosts: localhost
  gather_facts: false
  tasks:
    - operator_sdk.util.osdk_metric: {name: app_backups, description: Backups, gauge: {set: 3}}
`})
	o.start(func(options *runner.Options) { options.Metrics.UserAddress = taken.Addr().String() })
	o.create(gvk, "thing", map[string]any{})
	o.eventually(gvk, "thing", ready)
	if m := o.userMetric("app_backups", "thing"); m.GetGauge().GetValue() != 3 {
		t.Errorf("app_backups is %v, want 3", m)
	}
	if n := o.log.count("Metrics of playbooks are taken in at runs' own URLs only", "address already in use"); n != 1 {
		t.Errorf("the log tells of the taken port %d times, want once", n)
	}
}

// TestK8sStatusBesideManagedStatus is the custom status of AO 9.3: what k8s_status writes through the proxy survives the
// operator's own writes, and nothing is written when nothing differs (UP F6).
// Covers AO 9.4 k8s_event, UP F1.
func TestK8sStatusBesideManagedStatus(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": `
- hosts: localhost
  gather_facts: false
  collections: [operator_sdk.util]
  vars: {meta: "{{ ansible_operator_meta }}"}
  tasks:
    - k8s_status: &status
        api_version: ` + gvk.GroupVersion().String() + `
        kind: Thing
        name: "{{ meta.name }}"
        namespace: "{{ meta.namespace }}"
        status: {test: hello world}
        conditions: [{type: Backed, status: "True", reason: ItIs}]
    - k8s_status: *status
      register: again
      failed_when: again.changed
    - k8s_event:
        name: "{{ meta.name }}-happened"
        namespace: "{{ meta.namespace }}"
        reason: Happened
        message: It happened
        involvedObject: {apiVersion: ` + gvk.GroupVersion().String() + `, kind: Thing, name: "{{ meta.name }}", namespace: "{{ meta.namespace }}"}
`})
	o.start()
	thing := o.create(gvk, "thing", map[string]any{"size": int64(1)})
	kept := func(obj *unstructured.Unstructured) error {
		if err := ready(obj); err != nil {
			return err
		}
		if text, _, _ := unstructured.NestedString(obj.Object, "status", "test"); text != "hello world" {
			return fmt.Errorf("status.test is %q after a run", text)
		}
		return testkit.HasCondition(obj, "Backed", "True")
	}
	o.eventually(gvk, "thing", kept)
	o.edit(thing, set(int64(2), "spec", "size"))
	o.eventually(gvk, "thing", kept)
	if n := o.log.count(`"outcome":`, `"name":"thing"`); n != 2 {
		t.Errorf("%d runs, want 2: a run's own status and events wake nobody", n)
	}
	o.eventually(schema.GroupVersionKind{Version: "v1", Kind: "Event"}, "thing-happened", func(event *unstructured.Unstructured) error {
		if count, _, _ := unstructured.NestedInt64(event.Object, "count"); count != 2 {
			return fmt.Errorf("count is %d, want one for each run", count)
		}
		if uid, _, _ := unstructured.NestedString(event.Object, "involvedObject", "uid"); uid != string(thing.GetUID()) {
			return fmt.Errorf("the event is about UID %s, want %s", uid, thing.GetUID())
		}
		return nil
	})
}
