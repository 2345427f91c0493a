package status

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// TestIdleNeverWrites is the promise of 0 writes over idle periods.
func TestIdleNeverWrites(t *testing.T) {
	for tool, results := range map[Tool][2]engine.Result{
		AnsibleOperator: {playOK, playIdle}, HelmOperator: {upgraded, releaseIdle}, "": {playOK, playIdle},
	} {
		t.Run(string("tool "+tool), func(t *testing.T) {
			in := done(results[0])
			in.Tool, in.Now = tool, at(0)
			status, _ := Compute(nil, in)
			want := encode(t, status)
			for i := range 10 {
				for _, step := range []Input{with(running(""), quiet), with(done(results[1]), quiet)} {
					step.Tool, step.Now, step.RunID = tool, at(i*10), "run-"+string(rune('a'+i))
					step.Result.Started, step.Result.Finished = at(i*10), at(i*10+1)
					var changes []Transition
					status, changes = Compute(status, step)
					if diff := cmp.Diff(want, encode(t, status)); diff != "" || len(changes) > 0 {
						t.Fatalf("period %d, %s, would be written with %v:\n%s", i, step.Phase, changes, diff)
					}
				}
			}
		})
	}
}

func TestOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		reason  string
		outputs map[string]any
		want    any    // status.outputs
		message string // part of Ready's message
	}{
		"Nil":    {"a run without set_stats leaves what was there", nil, map[string]any{"old": "yes"}, ""},
		"Empty":  {"a run may take its outputs back", map[string]any{}, nil, ""},
		"Values": {"types are those that come back from the API server", map[string]any{"a": 1, "b": 2.0, "c": []any{"x", nil}, "d": nil}, map[string]any{"a": int64(1), "b": int64(2), "c": []any{"x", nil}}, ""},
		"Secret": {"outputs are as public as messages", map[string]any{"a": []any{map[string]any{"p": "is hunter2"}}}, map[string]any{"a": []any{map[string]any{"p": "is ***"}}}, ""},
		"Large":  {"half of the outputs would mislead", map[string]any{"a": strings.Repeat("x", 65<<10)}, nil, "status.outputs is left out: they take 66568 bytes, the limit is 65536"},
		"NaN":    {"what JSON cannot say is told", map[string]any{"a": math.NaN()}, nil, "status.outputs is left out: they are no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			in := done(engine.Result{Outcome: engine.Succeeded, Outputs: c.outputs})
			in.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
			got, _ := Compute(map[string]any{"outputs": map[string]any{"old": "yes"}}, in)
			if diff := cmp.Diff(c.want, got["outputs"]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			message := field(newConditions(got, at(0)).get(typeReady), "message")
			if !strings.Contains(message, c.message) {
				t.Errorf("Ready says %q, want %q in it", message, c.message)
			}
		})
	}
}

func TestSecretsAreRedactedEverywhere(t *testing.T) {
	const secret = "hunter2"
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "***") }
	results := []engine.Result{
		{Outcome: engine.Transient, Message: secret, Reason: engine.ReasonTaskFailed},
		{Outcome: engine.Permanent, Failures: []engine.Failure{{Name: secret, Message: secret}}},
		{Outcome: engine.Waiting, Message: secret},
		{Outcome: engine.Changed, Outputs: map[string]any{"x": secret}, Release: &engine.Release{Name: "r", Version: 1, Notes: secret, Manifest: secret}},
		{Outcome: engine.Transient, Denials: []engine.Denial{{Verb: "get", Resource: "secrets", Name: secret, Message: secret}}},
	}
	for _, tool := range []Tool{AnsibleOperator, HelmOperator} {
		for _, result := range results {
			in := done(result)
			in.Tool, in.Redact = tool, redact
			status, changes := Compute(nil, in)
			if text := encode(t, status); strings.Contains(text, secret) {
				t.Errorf("%s, %s: the secret is in status:\n%s", tool, result.Outcome, text)
			}
			for _, c := range changes {
				if strings.Contains(c.Message, secret) {
					t.Errorf("%s, %s: the secret is in a transition: %+v", tool, result.Outcome, c)
				}
			}
		}
	}
}

func made(digest string) Input { return with(done(playOK), func(in *Input) { in.Inputs = digest }) }

func scheduled(name string, minute int) Input {
	return with(done(playOK), func(in *Input) { in.Schedule, in.ScheduledFor = name, at(minute) })
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		steps  []Input
		want   Record
	}{
		"Nothing":  {"a new resource", nil, Record{}},
		"Running":  {"a run that was cut off by kill -9 is known by this", []Input{running(engine.TriggerSpec)}, Record{InProgress: true}},
		"Good":     {"nothing is due", []Input{done(playOK)}, Record{ObservedGeneration: 1, Ready: true, RunID: "run-1", Outcome: engine.Changed, Finished: at(1)}},
		"Retrying": {"the retry is due after a restart", []Input{with(done(playFailed), func(in *Input) { in.Attempt = 3 })}, Record{ObservedGeneration: 1, Retrying: true, RunID: "run-1", Outcome: engine.Transient, Reason: "TaskFailed", Attempt: 3, Finished: at(1)}},
		"Stalled":  {"no retry is due", []Input{{Phase: Refused, Generation: 4, Reason: "VariableClash"}}, Record{ObservedGeneration: 4, Stalled: true}},
		"Asked":    {"a request is granted once", []Input{with(done(playOK), func(in *Input) { in.Request = "now" })}, Record{ObservedGeneration: 1, Ready: true, RunID: "run-1", Outcome: engine.Changed, Request: "now", Finished: at(1)}},
		"Made from": {"what a good run was made from, as long as the next is good", []Input{made("sha256:a"), made("sha256:b")},
			Record{ObservedGeneration: 1, Ready: true, RunID: "run-1", Outcome: engine.Changed, Finished: at(1), Inputs: "sha256:b"}},
		"Failed since": {"a failed run was made from nothing that would do", []Input{made("sha256:a"), with(done(playFailed), func(in *Input) { in.Inputs = "sha256:a" })},
			Record{ObservedGeneration: 1, Retrying: true, RunID: "run-1", Outcome: engine.Transient, Reason: "TaskFailed", Attempt: 1, Finished: at(1)}},
		"Scheduled": {"a time of a schedule is granted once, whatever runs later", []Input{scheduled("nightly", 3), scheduled("hourly", 4), done(playOK)},
			Record{ObservedGeneration: 1, Ready: true, RunID: "run-1", Outcome: engine.Changed, Finished: at(1),
				Schedules: map[string]time.Time{"nightly": at(3), "hourly": at(4)}}},
		"Cut off": {"an interrupted run is no answer to the spec", []Input{done(engine.Result{Outcome: engine.Cancelled})}, Record{Retrying: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var status map[string]any
			for _, in := range c.steps {
				in.Now = at(0)
				status, _ = Compute(status, in)
			}
			if diff := cmp.Diff(c.want, Read(parse(t, encode(t, status)))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// FuzzForeignSurvives: whatever others keep in status, in whatever order, comes through as it was.
func FuzzForeignSurvives(f *testing.F) {
	f.Add([]byte(takeOverAnsible), uint64(1))
	f.Add([]byte(takeOverHelm), uint64(2))
	f.Add([]byte(`{"conditions":{"a":1}}`), uint64(3))
	f.Add([]byte(`{"conditions":[null,1,[],{"type":1},{"type":"Ready"},{"type":"Ready"},{"type":"Stalled","status":true}],"run":7,"outputs":[],"deployedRelease":"x"}`), uint64(4))
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		var prev map[string]any
		if json.Unmarshal(text, &prev) != nil {
			t.Skip()
		}
		prev = parse(t, encode(t, prev))
		random := rand.New(rand.NewPCG(seed, 0))
		if list, ok := prev["conditions"].([]any); ok {
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		steps := []Input{running(engine.TriggerSpec), done(playOK), done(playFailed), done(playWaits), done(upgraded),
			{Phase: Refused}, {Phase: Paused}, {Phase: Pending}, {Phase: Errored}, with(done(installed), deleting)}
		want := foreign(prev)
		for range 4 {
			in := steps[random.IntN(len(steps))]
			in.Tool, in.Now = []Tool{"", AnsibleOperator, HelmOperator}[random.IntN(3)], at(random.IntN(100))
			before := encode(t, prev)
			next, _ := Compute(prev, in)
			if diff := cmp.Diff(before, encode(t, prev)); diff != "" {
				t.Fatalf("Compute changed its argument:\n%s", diff)
			}
			if diff := cmp.Diff(want, foreign(next)); diff != "" {
				t.Fatalf("foreign data changed (-want +got):\n%s", diff)
			}
			prev = next
		}
	})
}

// foreign returns what is not ours of a status.
func foreign(status map[string]any) map[string]any {
	ours := map[string]bool{typeReady: true, typeReconciling: true, typeStalled: true, typeRunning: true, typeSuccessful: true,
		typeFailure: true, typeInitialized: true, typeDeployed: true, typeReleaseFailed: true, typeIrreconcilable: true}
	rest := clone(status)
	for _, key := range []string{"observedGeneration", "run", "outputs", "deployedRelease", "conditions"} {
		delete(rest, key)
	}
	list, _ := status["conditions"].([]any)
	others := []any{}
	for _, entry := range list {
		if !ours[field(entry, "type")] {
			others = append(others, entry)
		}
	}
	rest["conditions"] = others
	return rest
}
