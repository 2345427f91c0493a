package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func took(d time.Duration, result engine.Result) engine.Result {
	result.Started, result.Finished = start, start.Add(d)
	return result
}

func TestSummarize(t *testing.T) {
	job := engine.Job{ID: "r1", Mode: engine.Reconcile, Trigger: engine.TriggerSpec, Attempt: 1}
	finalize := engine.Job{ID: "r2", Mode: engine.Finalize, Trigger: engine.TriggerDeletion, Attempt: 3}
	release := func(action engine.Action) engine.Result {
		return took(0, engine.Result{Outcome: engine.Changed, Release: &engine.Release{Name: "demo", Version: 2, Action: action}})
	}
	for name, c := range map[string]struct {
		reason string
		run    Run
		want   Line
	}{
		"Play": {"the line that ansible-operator's own tests wait for",
			Run{Job: job, Result: took(1500*time.Millisecond, engine.Result{Outcome: engine.Changed, Stats: &engine.Stats{OK: 3, Changed: 1}, APIRequests: 4, Processes: 1})},
			Line{"Ansible-runner exited successfully", false, []any{"mode", "reconcile", "trigger", "spec", "outcome", "Changed", "duration", "1.5s", "job", "r1",
				"requests", 4, "processes", 1, "ok", 3, "changed", 1, "skipped", 0, "failures", 0}}},
		"Costs": {"what the run waited for and took",
			Run{Chart: true, Job: job, Waited: 250 * time.Millisecond, Result: took(time.Second, engine.Result{Outcome: engine.Cancelled, MaxRSSBytes: 64 << 20})},
			Line{"Run was interrupted", false, []any{"mode", "reconcile", "trigger", "spec", "outcome", "Cancelled", "duration", "1s",
				"waited", "250ms", "memoryBytes", int64(64 << 20)}}},
		"Failure": {"one line tells what failed",
			Run{Job: finalize, Result: took(time.Second, engine.Result{Outcome: engine.Transient, Reason: "TaskFailed", Message: "disk full"})},
			Line{"Run failed", true, []any{"mode", "finalize", "trigger", "deletion", "outcome", "Transient", "duration", "1s", "job", "r2",
				"attempt", 3, "reason", "TaskFailed", "message", "disk full"}}},
		"Waiting": {"waiting is not for the error level",
			Run{Job: job, Result: took(0, engine.Result{Outcome: engine.Waiting, Reason: "NoSecret", RetryAfter: 5 * time.Second})},
			Line{"Run waits", false, []any{"mode", "reconcile", "trigger", "spec", "outcome", "Waiting", "duration", "0s", "job", "r1",
				"reason", "NoSecret", "retryAfter", "5s"}}},
		"Install": {"helm-operator's word", Run{Chart: true, Job: job, Result: release(engine.ActionInstall)}, releaseLine("Installed release", "reconcile", "spec", nil)},
		"Upgrade": {"helm-operator's word", Run{Chart: true, Job: job, Result: release(engine.ActionUpgrade)}, releaseLine("Upgraded release", "reconcile", "spec", nil)},
		"Repair":  {"helm-operator's word", Run{Chart: true, Job: job, Result: release(engine.ActionRepair)}, releaseLine("Reconciled release", "reconcile", "spec", nil)},
		"Uninstall": {"helm-operator's word", Run{Chart: true, Job: finalize, Result: release(engine.ActionUninstall)},
			releaseLine("Uninstalled release", "finalize", "deletion", []any{"attempt", 3})},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Summarize(c.run)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func releaseLine(message, mode, trigger string, more []any) Line {
	list := []any{"mode", mode, "trigger", trigger, "outcome", "Changed", "duration", "0s"}
	list = append(list, more...)
	return Line{message, false, append(list, "release", "demo", "revision", 2)}
}

func TestEndings(t *testing.T) {
	for outcome, want := range map[engine.Outcome]Line{
		engine.Cancelled: {Message: "Run was interrupted"},
		engine.TimedOut:  {Message: "Run timed out", Failed: true},
		engine.Permanent: {Message: "Run failed", Failed: true},
	} {
		got := Summarize(Run{Result: engine.Result{Outcome: outcome}})
		got.KeysAndValues = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", outcome, diff)
		}
	}
}

func TestOwnerKeysAndValues(t *testing.T) {
	got := OwnerKeysAndValues(engine.Owner{Kind: "Sample", Namespace: "n", Name: "a"})
	if diff := cmp.Diff([]any{"kind", "Sample", "namespace", "n", "name", "a"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
