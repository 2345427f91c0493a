package controller

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/journal"
)

// recordRuns has a stage keep records in a directory of the test, which it returns.
func recordRuns(t *testing.T, s *stage) (private string) {
	t.Helper()
	private = t.TempDir()
	kept, err := journal.Open(private, 1<<20, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	s.Journal, s.Executor = kept, "warm"
	return private
}

// secretive returns a resource that is a Secret.
func secretive() *unstructured.Unstructured {
	return ofGeneration(0, func(obj *unstructured.Unstructured) {
		obj.Object["apiVersion"], obj.Object["kind"] = "v1", "Secret"
		obj.Object["data"] = map[string]any{"password": base64.StdEncoding.EncodeToString([]byte("hunter2"))}
	})
}

func readRecords(t *testing.T, private string) []journal.Record {
	t.Helper()
	records, err := journal.Read(private, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func TestRunIsRecorded(t *testing.T) {
	var private string
	var during []journal.Record
	s := newStage(t, func(context.Context, engine.Job) engine.Result {
		during = readRecords(t, private)
		return engine.Result{
			Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Message: "the password is hunter2",
			Executor: "direct", Fallback: "locale", Modules: map[string]int{"forked": 2, "become": 1},
			Stats: &engine.Stats{OK: 2, Changed: 1, Failures: 1}, APIRequests: 3, Processes: 1,
			Started: time.Unix(1_700_000_000, 0), Finished: time.Unix(1_700_000_002, 0),
		}
	}, secretive(), secretive())
	private = recordRuns(t, s)
	s.notes.news.add(thing, news{trigger: engine.TriggerDependent, sentence: "ConfigMap a was deleted"})
	s.notes.add(thing, engine.TriggerDependent)
	s.waits.add(thing, s.clock.Now().Add(-3*time.Second))
	s.reconcile(t)

	want := journal.Record{
		Format: 1, ID: "run", State: journal.Running,
		Resource: journal.Resource{APIVersion: "v1", Kind: "Secret", Namespace: thing.Namespace, Name: thing.Name},
		Mode:     engine.Reconcile, Trigger: engine.TriggerDependent, Why: "ConfigMap a was deleted", Attempt: 1,
		Path: journal.Path{Asked: "warm"}, Started: s.clock.Now(), WaitSeconds: 3,
	}
	if diff := cmp.Diff([]journal.Record{want}, during); diff != "" {
		t.Errorf("while it runs (-want +got):\n%s", diff)
	}
	want.State, want.Started, want.Finished = journal.Ended, time.Unix(1_700_000_000, 0), time.Unix(1_700_000_002, 0)
	want.Executor, want.Fallback, want.Modules = "direct", "locale", map[string]int{"forked": 2, "become": 1}
	want.Outcome, want.Reason, want.Message = engine.Transient, engine.ReasonTaskFailed, "the password is [redacted]"
	want.Tasks, want.Requests, want.Processes = &journal.Tasks{OK: 2, Changed: 1, Failed: 1}, 3, 1
	if diff := cmp.Diff([]journal.Record{want}, readRecords(t, private)); diff != "" {
		t.Errorf("after its end (-want +got):\n%s", diff)
	}
}

type noEngine struct{}

func (noEngine) Run(context.Context, engine.Job) (engine.Result, error) {
	return engine.Result{}, errors.New("no space left on device")
}
func (noEngine) Ready(context.Context) error { return nil }

func TestRunThatCannotBeginIsRecorded(t *testing.T) {
	s := newStage(t, succeed, ofGeneration(1), ofGeneration(1))
	s.Engine = noEngine{}
	private := recordRuns(t, s)
	s.notes.add(thing, engine.TriggerSpec)
	s.reconcile(t)
	records := readRecords(t, private)
	if len(records) != 1 || records[0].Outcome != journal.NotStarted || !strings.Contains(records[0].Message, "no space left") {
		t.Errorf("recorded: %+v", records)
	}
}
