package status

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is a minute of the story.
func at(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }

func running(trigger engine.Trigger) Input {
	return Input{Phase: Running, Generation: 1, RunID: "run-1", Trigger: trigger}
}

func done(result engine.Result) Input {
	result.Started, result.Finished = at(0), at(1)
	return Input{Phase: Done, Generation: 1, RunID: "run-1", Trigger: engine.TriggerSpec, Attempt: 1, Result: result}
}

// with changes a step of a story.
func with(in Input, change func(*Input)) Input {
	change(&in)
	return in
}

func generation(n int64) func(*Input) { return func(in *Input) { in.Generation = n } }

func quiet(in *Input) { in.Quiet, in.Trigger = true, engine.TriggerPeriod }

func deleting(in *Input) { in.Deleting, in.Trigger = true, engine.TriggerDeletion }

var (
	okStats    = &engine.Stats{OK: 3, Changed: 1, Skipped: 2, Completed: time.Date(2026, 3, 1, 12, 1, 0, 250000000, time.UTC)}
	idleStats  = &engine.Stats{OK: 4, Skipped: 2, Completed: time.Date(2026, 3, 1, 13, 1, 0, 0, time.UTC)}
	badStats   = &engine.Stats{OK: 1, Failures: 1, Completed: time.Date(2026, 3, 1, 12, 1, 0, 123456000, time.UTC)}
	playOK     = engine.Result{Outcome: engine.Changed, Stats: okStats, Outputs: map[string]any{"provisioned": true, "size": int64(3), "none": nil}}
	playIdle   = engine.Result{Outcome: engine.Succeeded, Stats: idleStats, Outputs: map[string]any{"provisioned": true, "size": int64(3)}}
	playFailed = engine.Result{Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Stats: badStats,
		Message:  "Make the bucket: tasks/main.yml:3: disk full",
		Failures: []engine.Failure{{Name: "Make the bucket", File: "tasks/main.yml", Line: 3, Message: "disk full"}}}
	playWaits = engine.Result{Outcome: engine.Waiting, Reason: "WaitingForSecret", Message: "Secret db-password is not there yet"}
	installed = engine.Result{Outcome: engine.Changed, Release: &engine.Release{Name: "demo", Version: 1, Digest: "sha256:aa",
		Manifest: "kind: Secret", Notes: "Visit http://demo\n", Action: engine.ActionInstall}}
	upgraded = engine.Result{Outcome: engine.Changed, Release: &engine.Release{Name: "demo", Version: 2, Digest: "sha256:bb",
		Notes: "Visit http://demo", Action: engine.ActionUpgrade}}
	releaseIdle = engine.Result{Outcome: engine.Succeeded, Release: &engine.Release{Name: "demo", Version: 2, Digest: "sha256:bb", Action: engine.ActionNone}}
)

// story is what happens to one resource, step by step.
type story struct {
	name   string
	reason string // why it is told
	tool   Tool
	prev   string // status at the beginning, JSON
	steps  []Input
}

var stories = []story{
	{"ansible-first-run", "the table of the old operator, from nothing to success", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(playOK)}},
	{"ansible-idle", "a run by period that changes nothing writes nothing", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(playOK), with(running(""), quiet), with(done(playIdle), quiet)}},
	{"ansible-spec-change", "Ready must not vouch for a spec that was not run yet", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(playOK), with(running(engine.TriggerSpec), generation(2)), with(done(playOK), generation(2))}},
	{"ansible-child-repaired", "looking after a resource does not make it less ready", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(playOK), running(engine.TriggerDependent), done(playOK)}},
	{"ansible-fails-then-succeeds", "a retry keeps the reason in view until it is known better", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(playFailed), running(engine.TriggerRetry),
			with(done(playOK), func(in *Input) { in.Attempt = 2 })}},
	{"ansible-permanent", "a syntax error is Failed for kstatus and says where", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(engine.Result{Outcome: engine.Permanent, Reason: engine.ReasonSyntaxError,
			Message: "playbooks/sample.yml:7: mapping values are not allowed here"})}},
	{"ansible-exhausted", "spent retries stall", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), with(done(playFailed), func(in *Input) { in.Exhausted, in.Attempt = true, 5 })}},
	{"ansible-timeout", "a timeout has its own reason", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(engine.Result{Outcome: engine.TimedOut, Message: "Run took longer than 5s"})}},
	{"ansible-waits", "waiting is no failure", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(playWaits), running(engine.TriggerRetry), done(playOK)}},
	{"ansible-interrupted", "a shutdown is no failure, and no answer to the spec", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(engine.Result{Outcome: engine.Cancelled, Reason: engine.ReasonCancelled})}},
	{"ansible-interrupted-drift", "what was ready stays ready when its check is cut off", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(playOK), running(engine.TriggerDependent), done(engine.Result{Outcome: engine.Cancelled})}},
	{"ansible-forbidden", "the missing permission is the message", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(engine.Result{Outcome: engine.Transient, Reason: engine.ReasonTaskFailed, Message: "Make it: 403",
			Denials: []engine.Denial{{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "default"},
				{Verb: "get", Resource: "nodes"}, {Verb: "get", Resource: "nodes"}}})}},
	{"ansible-refused", "a refusal stalls until the spec changes", AnsibleOperator, "",
		[]Input{{Phase: Refused, Generation: 1, Reason: "VariableClash", Message: "spec.dataDir and spec.data_dir are one variable: data_dir"}}},
	{"ansible-errored", "the old words stay where a run could not start", AnsibleOperator, "",
		[]Input{{Phase: Errored, Generation: 1, Message: "ansible-playbook is not installed"}}},
	{"ansible-pending", "waiting before a run", AnsibleOperator, "",
		[]Input{{Phase: Pending, Generation: 1, Message: "CRD caches.example.com is not there yet"}}},
	{"ansible-paused", "a pause keeps what is known", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(playFailed), {Phase: Paused, Generation: 1}, {Phase: Paused, Generation: 1},
			{Phase: Paused, Generation: 2}}},
	{"ansible-deletion", "a finalizer that fails says so; one that succeeds may have to wait for others", AnsibleOperator, "",
		[]Input{running(engine.TriggerSpec), done(playOK), with(with(running(""), deleting), generation(2)),
			with(with(done(playFailed), deleting), generation(2)), with(with(done(playOK), deleting), generation(2))}},
	{"ansible-deletion-blocked", "a finalizer that is given up has its own reason", AnsibleOperator, "",
		[]Input{with(running(""), deleting), with(with(done(playFailed), deleting), func(in *Input) { in.Exhausted = true })}},
	{"ansible-take-over", "conditions of ansible-operator and of a playbook are found", AnsibleOperator, takeOverAnsible,
		[]Input{running(engine.TriggerInitial), done(playIdle)}},
	{"ansible-take-over-running", "the old operator died in a run", AnsibleOperator,
		`{"conditions":[{"lastTransitionTime":"2024-01-01T00:00:00Z","message":"Running reconciliation","reason":"Running","status":"True","type":"Running"}]}`,
		[]Input{running(engine.TriggerInitial), done(playOK)}},
	{"ansible-own-ready", "a playbook that writes Ready itself keeps it", AnsibleOperator,
		`{"conditions":[{"type":"Ready","status":"False","reason":"DatabaseStarting","message":"","observedGeneration":3}],"url":"http://x"}`,
		[]Input{running(engine.TriggerSpec), done(playOK), running(engine.TriggerRetry), done(playFailed)}},
	{"ansible-request", "a request is granted once", AnsibleOperator, "",
		[]Input{with(done(playOK), func(in *Input) { in.Request = "one" }), with(done(playIdle), quiet),
			with(done(playIdle), func(in *Input) { in.Request = "two" })}},
	{"none-secret", "built-in kinds without generations", "", "",
		[]Input{with(running(engine.TriggerSpec), generation(0)), with(done(playOK), generation(0))}},
	{"helm-install-upgrade", "the table of the old operator", HelmOperator, "",
		[]Input{running(engine.TriggerSpec), done(installed), with(running(engine.TriggerSpec), generation(2)), with(done(upgraded), generation(2))}},
	{"helm-idle", "an unchanged release writes nothing, though its notes were not rendered", HelmOperator, "",
		[]Input{running(engine.TriggerSpec), done(upgraded), with(running(""), quiet), with(done(releaseIdle), quiet)}},
	{"helm-manifest", "the manifest comes only when asked for", HelmOperator, "",
		[]Input{with(done(installed), func(in *Input) { in.Manifest = true }), done(releaseIdle)}},
	{"helm-install-fails", "the true error is in the condition", HelmOperator, "",
		[]Input{running(engine.TriggerSpec), done(engine.Result{Outcome: engine.Transient, Reason: engine.ReasonInstallFailed,
			Message: "Hook Job demo-migrate failed: BackoffLimitExceeded"}), running(engine.TriggerRetry), done(installed)}},
	{"helm-upgrade-timeout", "which change failed is known from the action", HelmOperator, "",
		[]Input{running(engine.TriggerSpec), done(installed), done(engine.Result{Outcome: engine.TimedOut, Message: "took longer than 5m",
			Release: &engine.Release{Name: "demo", Version: 2, Action: engine.ActionUpgrade}})}},
	{"helm-invalid-values", "what never reaches the release is Irreconcilable, and stalls", HelmOperator, "",
		[]Input{running(engine.TriggerSpec), done(engine.Result{Outcome: engine.Permanent, Reason: engine.ReasonInvalidValues,
			Message: "replicas: expected integer, given string"})}},
	{"helm-uninstall", "the release goes, then the finalizer of someone else", HelmOperator, "",
		[]Input{running(engine.TriggerSpec), done(installed), with(running(""), deleting),
			with(done(engine.Result{Outcome: engine.Waiting}), deleting),
			with(done(engine.Result{Outcome: engine.Changed}), deleting)}},
	{"helm-uninstall-fails", "a failed uninstall", HelmOperator, "",
		[]Input{with(running(""), deleting), with(done(engine.Result{Outcome: engine.Transient, Reason: engine.ReasonUninstallFailed, Message: "no"}), deleting)}},
	{"helm-take-over", "conditions and manifest of helm-operator are found", HelmOperator, takeOverHelm,
		[]Input{with(running(engine.TriggerInitial), quiet), with(done(releaseIdle), quiet)}},
}

const takeOverAnsible = `{
 "conditions":[
  {"ansibleResult":{"changed":0,"completion":"2024-05-01T10:00:00.5+00:00","failures":0,"ok":7,"skipped":1},"lastTransitionTime":"2024-01-01T00:00:00Z","message":"Awaiting next reconciliation","reason":"Successful","status":"True","type":"Running"},
  {"type":"DatabaseUp","status":"True","lastHeartbeatTime":"2024-05-01T10:00:00+02:00","observedGeneration":3,"extra":{"a":[1,2.5,null]}},
  "not even a condition",
  {"lastTransitionTime":"2024-05-01T10:00:00Z","message":"Last reconciliation succeeded","reason":"Successful","status":"True","type":"Successful"},
  {"lastTransitionTime":"2024-05-01T10:00:00Z","message":"","reason":"","status":"False","type":"Failure"}],
 "url":"http://x"}`

const takeOverHelm = `{
 "conditions":[
  {"lastTransitionTime":"2024-01-01T00:00:00Z","status":"True","type":"Initialized"},
  {"lastTransitionTime":"2024-01-01T00:00:00Z","message":"Old notes","reason":"UpgradeSuccessful","status":"True","type":"Deployed"},
  {"lastTransitionTime":"2024-01-01T00:00:00Z","status":"False","type":"Irreconcilable"},
  {"lastTransitionTime":"2024-01-01T00:00:00Z","status":"False","reason":"Whatever","type":"Paused"}],
 "deployedRelease":{"name":"demo","manifest":"kind: Secret\ndata: {password: aGk=}"}}`

// Covers UP F2.
func TestStories(t *testing.T) {
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			got := tell(t, s)
			file := filepath.Join("testdata", s.name+".golden")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.reason, diff)
			}
		})
	}
}

// tell plays a story and writes down the status after each step.
func tell(t *testing.T, s story) []byte {
	t.Helper()
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n", s.reason)
	prev := parse(t, s.prev)
	for i, in := range s.steps {
		in.Tool, in.Now = s.tool, at(i)
		before := encode(t, prev)
		next, changes := Compute(prev, in)
		if after := encode(t, prev); after != before {
			t.Errorf("step %d changed the status that it was given:\n%s", i, cmp.Diff(before, after))
		}
		again, _ := Compute(parse(t, before), in)
		if diff := cmp.Diff(encode(t, next), encode(t, again)); diff != "" {
			t.Errorf("step %d is not the same twice:\n%s", i, diff)
		}
		fmt.Fprintf(&out, "\n== %s %s\n", in.Phase, in.Trigger)
		if text := encode(t, next); text == before {
			fmt.Fprintln(&out, "unchanged")
		} else {
			fmt.Fprintln(&out, text)
		}
		for _, c := range changes {
			fmt.Fprintf(&out, "%s: %q %s -> %q %s\n", c.Type, c.From, c.FromReason, c.To, c.Reason)
		}
		fmt.Fprintf(&out, "kstatus: %s\n", kstatus(t, next, in.Generation))
		prev = parse(t, encode(t, next))
	}
	return out.Bytes()
}

// kstatus asks the library that GitOps tools use.
func kstatus(t *testing.T, next map[string]any, generation int64) status.Status {
	t.Helper()
	next = maps.Clone(next)
	if list, ok := next["conditions"].([]any); ok { // the library fails on what is no condition
		var conditions []any
		for _, entry := range list {
			if _, ok := entry.(map[string]any); ok {
				conditions = append(conditions, entry)
			}
		}
		next["conditions"] = conditions
	}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "demo.example.com/v1", "kind": "Sample",
		"metadata": map[string]any{"name": "x", "generation": generation}, "status": next}}
	result, err := status.Compute(obj)
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	var m map[string]any
	if err := utiljson.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func encode(t *testing.T, m map[string]any) string {
	t.Helper()
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
