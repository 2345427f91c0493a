package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// object returns a resource of generation 2 with conditions, given as type, status, reason, message.
func object(observed int64, conditions ...[4]string) *unstructured.Unstructured {
	list := []any{}
	for _, c := range conditions {
		list = append(list, map[string]any{"type": c[0], "status": c[1], "reason": c[2], "message": c[3], "observedGeneration": observed})
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": list}}}
	obj.SetGeneration(2)
	return obj
}

func annotated(record string) *unstructured.Unstructured {
	obj := object(2, [4]string{"Ready", "False", "NotOurs", ""})
	obj.SetAnnotations(map[string]string{recordAnnotation: record})
	return obj
}

func TestVerdict(t *testing.T) {
	good, bad := run{Outcome: "Changed"}, run{Outcome: "Transient", Reason: "TaskFailed"}
	ready := [4]string{"Ready", "True", "Succeeded", ""}
	tests := map[string]struct {
		reason string
		obj    *unstructured.Unstructured
		last   run
		want   verdict
		ok     bool // on a local cluster
		okPods bool // on a cluster whose pods are real
		dead   bool // nothing more will happen
	}{
		"Absent":     {reason: "a resource that is not there is not ready", want: verdict{reason: "Gone"}},
		"NoStatus":   {reason: "nothing has been written yet", obj: object(0), want: verdict{current: true}},
		"Ready":      {reason: "what is waited for", obj: object(2, ready), want: verdict{ready: "True", reason: "Succeeded", current: true}, ok: true, okPods: true},
		"OldVerdict": {reason: "ready for an older spec does not count", obj: object(1, ready), want: verdict{ready: "True", reason: "Succeeded"}},
		"Busy": {reason: "a run in progress is the news, and does not make it less ready",
			obj:  object(2, ready, [4]string{"Reconciling", "True", "InProgress", "Run r1"}),
			want: verdict{ready: "True", reason: "InProgress", message: "Run r1", current: true}, ok: true, okPods: true},
		"Pods": {reason: "images of a real cluster are not the operator's business",
			obj:  object(2, [4]string{"Ready", "False", "JobRunning", "m"}),
			want: verdict{ready: "False", reason: "JobRunning", message: "m", current: true}, okPods: true},
		"Stalled": {reason: "waiting for the impossible ends at once",
			obj:  object(2, [4]string{"Ready", "False", "InvalidDataset", "m"}, [4]string{"Stalled", "True", "InvalidDataset", "m"}),
			want: verdict{ready: "False", reason: "InvalidDataset", message: "m", current: true, stalled: true}, dead: true},
		"Annotation": {reason: "where an annotation is, the status belongs to somebody else, and generations mean nothing",
			obj:  annotated(`{"conditions":[{"type":"Ready","status":"True","reason":"Succeeded","observedGeneration":1}]}`),
			want: verdict{ready: "True", reason: "Succeeded", current: true}, ok: true, okPods: true},
		"BadAnnotation": {reason: "what cannot be read says nothing", obj: annotated("{"), want: verdict{current: true}},
		"OnlyLog":       {reason: "without a record the log has to do", obj: object(0), last: good, want: verdict{ready: "True", reason: "Changed", current: true}, ok: true, okPods: true},
		"OnlyBadLog":    {reason: "also for failures", obj: object(0), last: bad, want: verdict{reason: "Transient", message: "TaskFailed", current: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := verdictOf(test.obj, test.last)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(verdict{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			local, pods := got.expected(false), got.expected(true)
			if diff := cmp.Diff([]bool{test.ok, test.okPods, test.dead}, []bool{local == nil, pods == nil, errors.Is(local, errStalled)}); diff != "" {
				t.Errorf("%s; fine locally, fine with real pods, hopeless (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
