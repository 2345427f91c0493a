package ansible

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// TestOutcomes runs real plays, one for each way in which a play can end.
// Covers AO 10.1 no. 4, AO 10.1 no. 6, AO 10.3 no. 2, UP E2, E6, F7.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		why   string
		tasks string
		want  engine.Result // Message and Failures[].Message are checked by says
		says  string        // Result.Message, %s stands for the content directory
	}{
		{
			name: "ok", why: "nothing had to be changed",
			tasks: `- debug: {msg: hi}`,
			want:  engine.Result{Outcome: engine.Succeeded, Stats: &engine.Stats{OK: 1}},
		},
		{
			name: "changed", why: "one changed task makes a changed run, and every kind of count is there",
			tasks: `
- debug: {msg: hi}
  changed_when: true
- debug: {msg: hi}
  when: false`,
			want: engine.Result{Outcome: engine.Changed, Stats: &engine.Stats{OK: 1, Changed: 1, Skipped: 1}},
		},
		{
			name: "failed", why: "a failed task fails the run and is named with place and reason",
			tasks: `
- name: look for it
  fail: {msg: "not\nthere"}
- debug: {msg: never}`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{Failures: 1},
				Failures: []engine.Failure{{Name: "look for it", Host: "localhost", File: "playbook.yml", Line: 4}},
			},
			says: `task "look for it" (playbook.yml:4): not there`,
		},
		{
			name: "program failed", why: "the exit code and the last words of a program say more than Ansible's message",
			tasks: `- command: ls /does/not/exist`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{Failures: 1},
				Failures: []engine.Failure{{Name: "command", Host: "localhost", File: "playbook.yml", Line: 4}},
			},
			says: `task "command" (playbook.yml:4): non-zero return code (rc 2): ls: cannot access '/does/not/exist': No such file or directory`,
		},
		{
			name: "loop failed", why: "Ansible only says that one or more items failed",
			tasks: `
- name: try each
  fail: {msg: "no {{ item }}"}
  loop: [apples, pears]`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{Failures: 1},
				Failures: []engine.Failure{{Name: "try each", Host: "localhost", File: "playbook.yml", Line: 4}},
			},
			says: `task "try each" (playbook.yml:4): One or more items failed: no apples`,
		},
		{
			name: "ignored", why: "ignore_errors makes a failure good",
			tasks: `
- fail: {msg: "no"}
  ignore_errors: true`,
			want: engine.Result{Outcome: engine.Succeeded, Stats: &engine.Stats{OK: 1}},
		},
		{
			name: "rescued", why: "a rescue section makes a failure good",
			tasks: `
- block: [{fail: {msg: "no"}}]
  rescue: [{debug: {msg: saved}}]`,
			want: engine.Result{Outcome: engine.Succeeded, Stats: &engine.Stats{OK: 1}},
		},
		{
			name: "rescue failed", why: "what counts is the failure that nothing rescued",
			tasks: `
- block: [{fail: {msg: first}}]
  rescue: [{name: save it, fail: {msg: second}}]
  always: [{debug: {msg: x}}]`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{OK: 1, Failures: 1},
				Failures: []engine.Failure{{Name: "save it", Host: "localhost", File: "playbook.yml", Line: 5}},
			},
			says: `task "save it" (playbook.yml:5): second`,
		},
		{
			name: "hidden", why: "no_log hides the reason and says so",
			tasks: `
- name: log in
  fail: {msg: canary}
  no_log: true`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{Failures: 1},
				Failures: []engine.Failure{{Name: "log in", Host: "localhost", File: "playbook.yml", Line: 4}},
			},
			says: `task "log in" (playbook.yml:4): the output is hidden by no_log`,
		},
		{
			name: "undefined", why: "a variable that the resource does not set",
			tasks: `- debug: {msg: "{{ nobody_set_this }}"}`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{Failures: 1},
				Failures: []engine.Failure{{Name: "debug", Host: "localhost", File: "playbook.yml", Line: 4}},
			},
			says: "'nobody_set_this' is undefined",
		},
		{
			name: "missing interpreter", why: "the shell's words reach the message",
			tasks: `
- name: ask it
  command: "true"
  vars: {ansible_python_interpreter: /does/not/exist}`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{Failures: 1},
				Failures: []engine.Failure{{Name: "ask it", Host: "localhost", File: "playbook.yml", Line: 4}},
			},
			says: "/does/not/exist",
		},
		{
			name: "include missing", why: "found out when the play is under way",
			tasks: `- include_tasks: nowhere.yml`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{Failures: 1},
				Failures: []engine.Failure{{Name: "include_tasks", Host: "localhost", File: "playbook.yml", Line: 4}},
			},
			says: "nowhere.yml",
		},
		{
			name: "outputs", why: "set_stats data comes back with its types, integers beyond 2^53 too",
			tasks: `
- set_stats: {data: {size: 3, ratio: 0.5, big: 9007199254740993, ok: true, "no": null, list: [1, {a: b}], text: "é{{ 1 }}"}}
- set_stats: {data: {where: here}, per_host: true}`,
			want: engine.Result{
				Outcome: engine.Succeeded, Stats: &engine.Stats{OK: 2},
				Outputs: map[string]any{
					"size": int64(3), "ratio": 0.5, "big": int64(9007199254740993), "ok": true, "no": nil,
					"list": []any{int64(1), map[string]any{"a": "b"}}, "text": "é1", "where": "here",
				},
			},
		},
		{
			name: "waiting", why: "a play may say that it is not there yet, which is no failure",
			tasks: `
- set_stats: {data: {seen: 1, chartbook: {outcome: waiting, reason: WaitingForPods, message: "0 of 3", requeueAfter: 20s}}}
- meta: end_play`,
			want: engine.Result{
				Outcome: engine.Waiting, Reason: "WaitingForPods", RetryAfter: 20 * time.Second,
				Stats: &engine.Stats{OK: 1}, Outputs: map[string]any{"seen": int64(1)},
			},
			says: "0 of 3",
		},
		{
			name: "permanent", why: "a play may say that trying again is of no use",
			tasks: `
- set_stats: {data: {chartbook: {outcome: permanent, reason: BadName, message: the name is taken}}}
- fail: {msg: no}`,
			want: engine.Result{
				Outcome: engine.Permanent, Reason: "BadName", Stats: &engine.Stats{OK: 1, Failures: 1},
				Failures: []engine.Failure{{Name: "fail", Host: "localhost", File: "playbook.yml", Line: 5}},
			},
			says: "the name is taken",
		},
		{
			name: "bad verdict", why: "a mistake in the reserved stat is told, not guessed at",
			tasks: `- set_stats: {data: {chartbook: {outcome: waiting, requeueAfter: soon}}}`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonPlaybookError, Stats: &engine.Stats{OK: 1},
			},
			says: `"soon" is no time to run again after; write it like 30s or 1m30s`,
		},
		{
			name: "requeue", why: "acts after the run has ended; the first one counts",
			tasks: `
- operator_sdk.util.requeue_after: {time: 1m5s}
- operator_sdk.util.requeue_after: {time: 2h}
- debug: {msg: this task still runs}`,
			want: engine.Result{Outcome: engine.Succeeded, RetryAfter: 65 * time.Second, Stats: &engine.Stats{OK: 3}},
		},
		{
			name: "requeue refused", why: "the module checks its argument; a failed call is a failed task",
			tasks: `- {name: later, operator_sdk.util.requeue_after: {time: 1.5h}}`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{Failures: 1},
				Failures: []engine.Failure{{Name: "later", Host: "localhost", File: "playbook.yml", Line: 4}},
			},
			says: `task "later" (playbook.yml:4): invalid time input`,
		},
		{
			name: "requeue without unit", why: "the module lets this pass, and it means nothing",
			tasks: `- {name: later, operator_sdk.util.requeue_after: {time: "5"}}`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{OK: 1},
				Failures: []engine.Failure{{Name: "later", Host: "localhost", File: "playbook.yml", Line: 4}},
			},
			says: `task "later" (playbook.yml:4): "5" is no time to run again after; write it like 30s or 1m30s`,
		},
		{
			name: "requeue hidden", why: "with no_log the operator cannot see the time",
			tasks: `- {name: later, operator_sdk.util.requeue_after: {time: 5s}, no_log: true}`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{OK: 1},
				Failures: []engine.Failure{{Name: "later", Host: "localhost", File: "playbook.yml", Line: 4}},
			},
			says: `task "later" (playbook.yml:4): the time to run again after is hidden; take no_log off`,
		},
		{
			name: "requeue, then failed", why: "a failure is no success because of an earlier task",
			tasks: `
- operator_sdk.util.requeue_after: {time: 5s}
- fail: {msg: "no"}`,
			want: engine.Result{
				Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: &engine.Stats{OK: 1, Failures: 1},
				Failures: []engine.Failure{{Name: "fail", Host: "localhost", File: "playbook.yml", Line: 5}},
			},
			says: `task "fail" (playbook.yml:5): no`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eachExecutor(t, func(t *testing.T, b *bench) {
				checkResult(t, b, b.run(b.play(tt.tasks), newJob()), tt.want, tt.says, tt.why)
			})
		})
	}
}

// checkResult compares what a run came to. File names of want are relative to the content directory; says is the
// message, or a part of it.
func checkResult(t *testing.T, b *bench, got, want engine.Result, says, why string) {
	t.Helper()
	for i := range got.Failures {
		got.Failures[i].File = strings.TrimPrefix(got.Failures[i].File, b.content+"/")
	}
	ignore := cmp.Options{
		cmpopts.IgnoreFields(engine.Result{}, "Message", "Started", "Finished", "Processes", "MaxRSSBytes", "Executor", "Modules"),
		cmpopts.IgnoreFields(engine.Failure{}, "Message"),
		cmpopts.IgnoreFields(engine.Stats{}, "Completed"),
	}
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("%s (-want +got):\n%s\nmessage: %s", why, diff, got.Message)
	}
	if got.Message != says && (says == "" || !strings.Contains(got.Message, says)) {
		t.Errorf("%s: message is\n%s\nwant\n%s", why, got.Message, says)
	}
	if asked := string(b.executor); asked != "" && got.Executor != asked {
		t.Errorf("it was run by the executor %q, want %q", got.Executor, asked)
	}
	if got.MaxRSSBytes < 10<<20 || got.MaxRSSBytes > 1<<30 {
		t.Errorf("the playbook took %d bytes of memory, which no Python does", got.MaxRSSBytes)
	}
	if got.Processes != 1 || got.Finished.Before(got.Started) || got.Started.IsZero() {
		t.Errorf("%d processes, from %v to %v", got.Processes, got.Started, got.Finished)
	}
	if got.Stats != nil && (got.Stats.Completed.Before(got.Started) || got.Stats.Completed.After(got.Finished)) {
		t.Errorf("completed at %v, not between %v and %v", got.Stats.Completed, got.Started, got.Finished)
	}
}
