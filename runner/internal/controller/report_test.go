package controller

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
)

// outlet is all that a stage says.
type outlet struct {
	lines  []string
	notes  []string
	counts *prometheus.Registry
}

func (o *outlet) Event(_ runtime.Object, event observe.Event) { o.notes = append(o.notes, event.Note) }

func listen(t *testing.T, s *stage) *outlet {
	t.Helper()
	o := &outlet{counts: prometheus.NewRegistry()}
	measures, err := observe.NewMetrics(o.counts, observe.Build{})
	if err != nil {
		t.Fatal(err)
	}
	log := funcr.NewJSON(func(line string) { o.lines = append(o.lines, line) }, funcr.Options{})
	s.Metrics, s.Events, s.Log, s.RunLog = measures, o, log.WithName("controller"), log.WithName("runner")
	return o
}

// count returns the value of a counter or gauge with a label of this value.
func (o *outlet) count(t *testing.T, name, label string) float64 {
	t.Helper()
	families, err := o.counts.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			for _, pair := range series.GetLabel() {
				if family.GetName() == name && pair.GetValue() == label {
					return series.GetGauge().GetValue() + series.GetCounter().GetValue()
				}
			}
		}
	}
	return -1
}

// The old tool counted runs only where it managed status (AO 10.1 no. 5).
func TestRunsCountWithoutManagedStatus(t *testing.T) {
	for _, managed := range []bool{true, false} {
		obj := ofGeneration(1)
		s := newStage(t, func(context.Context, engine.Job) engine.Result {
			return engine.Result{Outcome: engine.Changed}
		}, obj, obj)
		s.Watch.ManageStatus = managed
		o := listen(t, s)
		s.waker.notes.add(thing, engine.TriggerSpec)
		s.reconcile(t)
		if n := o.count(t, "ansible_operator_reconcile_result", "succeeded"); n != 1 {
			t.Errorf("managed status %v: %v runs are counted as succeeded", managed, n)
		}
	}
}

// broken is an engine that cannot start anything.
type broken struct{}

func (broken) Run(context.Context, engine.Job) (engine.Result, error) {
	return engine.Result{}, errors.New("there is no python")
}
func (broken) Ready(context.Context) error { return nil }

func TestRunsThatCannotBeginAreCounted(t *testing.T) {
	obj := ofGeneration(1)
	s := newStage(t, nil, obj, obj)
	s.Engine = broken{}
	o := listen(t, s)
	s.waker.notes.add(thing, engine.TriggerSpec)
	s.reconcile(t)
	if n := o.count(t, "ansible_operator_reconcile_result", "failed"); n != 1 {
		t.Errorf("%v runs are counted as failed", n)
	}
}

// Every line about a run has its id, in the order in which things happened; the old tool handled each event in a
// goroutine of its own (AO 10.2).
// Covers AO 9.2 log, UP I2.
func TestLinesOfARunAreInOrder(t *testing.T) {
	obj := ofGeneration(1)
	s := newStage(t, func(_ context.Context, job engine.Job) engine.Result {
		for _, task := range []string{"one", "two", "three"} {
			job.Progress(engine.Event{Kind: engine.EventOK, Task: task, Action: "command", File: "/p/a.yml", Line: 3, Host: "localhost", Duration: 1e9})
		}
		return engine.Result{Outcome: engine.Changed}
	}, obj, obj)
	o := listen(t, s)
	s.waker.notes.add(thing, engine.TriggerSpec)
	s.reconcile(t)
	const whose = `"namespace":"ns","name":"thing","run":"run",`
	want := []string{
		whose + `"event":"ok","task":"one","action":"command","host":"localhost","file":"/p/a.yml:3","changed":false,"duration":"1s"`,
		whose + `"event":"ok","task":"two",`, whose + `"event":"ok","task":"three",`,
		`"logger":"runner","level":0,"msg":"Ansible-runner exited successfully",` + whose,
	}
	if len(o.lines) != len(want) {
		t.Fatalf("%d lines:\n%s", len(o.lines), strings.Join(o.lines, "\n"))
	}
	for i, part := range want {
		if !strings.Contains(o.lines[i], part) {
			t.Errorf("line %d is %s, want %s in it", i, o.lines[i], part)
		}
	}
	if !strings.Contains(o.lines[3], `"job":"run"`) {
		t.Errorf("the last line has no job, which people's scripts read: %s", o.lines[3])
	}
}

// A Secret that is watched is one from the start: nothing about its runs says what it holds.
func TestAWatchedSecretIsNotTold(t *testing.T) {
	obj := ofGeneration(1)
	obj.SetAPIVersion("v1")
	obj.SetKind("Secret")
	obj.Object["data"] = map[string]any{"password": "aHVudGVyMjI="}
	s := newStage(t, func(_ context.Context, job engine.Job) engine.Result {
		job.Progress(engine.Event{Kind: engine.EventFailed, Task: "Log in", Action: "uri", Message: "no hunter22", Text: "aHVudGVyMjI="})
		return engine.Result{Outcome: engine.Transient, Reason: "TaskFailed", Message: "not with hunter22"}
	}, obj, obj)
	o := listen(t, s)
	s.waker.notes.add(thing, engine.TriggerSpec)
	s.reconcile(t)
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(obj.GroupVersionKind())
	if err := s.stored.Get(t.Context(), thing, stored); err != nil {
		t.Fatal(err)
	}
	delete(stored.Object, "data")
	record, err := stored.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{
		"log": strings.Join(o.lines, "\n"), "events": strings.Join(o.notes, "\n"), "status": string(record),
	} {
		if strings.Contains(text, "hunter22") || strings.Contains(text, "aHVudGVy") {
			t.Errorf("the %s tells the secret: %s", where, text)
		}
		if !strings.Contains(text, "not with [redacted]") {
			t.Errorf("the %s does not tell the cause: %s", where, text)
		}
	}
}
