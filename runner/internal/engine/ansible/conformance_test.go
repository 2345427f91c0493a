package ansible

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/enginetest"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// scenarios are the tasks for each kind of content. The variable marker names a file that stands for what a resource
// asks for.
var scenarios = map[enginetest.Scenario]string{
	enginetest.Apply:    "- command: touch {{ marker }}\n  args: {creates: '{{ marker }}'}",
	enginetest.Finalize: "- command: touch {{ marker }}\n  args: {creates: '{{ marker }}'}",
	enginetest.Fail:     "- {name: give up, fail: {msg: it cannot be done}}",
	enginetest.Hang:     "- {name: wait for ever, command: sleep 7000}",
	enginetest.Broken:   "- {debug: {}, fail: {}}",
	enginetest.Wait:     "- set_stats: {data: {chartbook: {outcome: waiting, reason: WaitingForPods}}}",
	enginetest.Leak:     "- {name: log in, command: 'ls /nowhere/{{ password }}', no_log: true}",
}

const cleaning = "- {hosts: localhost, gather_facts: false, tasks: [{command: 'rm {{ marker }}', args: {removes: '{{ marker }}'}}]}"

func TestConformance(t *testing.T) {
	for _, executor := range executors {
		t.Run(string(executor), func(t *testing.T) { conformance(t, executor) })
	}
}

func conformance(t *testing.T, executor Executor) {
	t.Helper()
	enginetest.Conformance(t, func(t *testing.T) enginetest.Harness {
		t.Helper()
		t.Parallel()
		b := newBenchOf(t, executor)
		marker := func(owner string) string { return filepath.Join(b.content, "marker-"+owner) }
		return enginetest.Harness{
			Engine: func(_ *testing.T, s enginetest.Scenario) engine.Engine {
				b.configure = func(cfg *Config) {
					if s == enginetest.Finalize {
						cfg.Finalizer = Content{Playbook: b.file("cleaning.yml", cleaning)}
					}
				}
				text := "- hosts: localhost\n  gather_facts: false\n  tasks:\n" + indent(scenarios[s])
				return b.engine(Content{Playbook: b.file(string(s)+".yml", text)})
			},
			Job: func(_ *testing.T, _ enginetest.Scenario, owner string) engine.Job {
				return engine.Job{
					ID:     newJob().ID, // the suite's own are unique within a subtest only, and these run side by side
					Owner:  engine.Owner{APIVersion: "demo.example.com/v1", Kind: "Sample", Namespace: "default", Name: owner},
					Inputs: map[string]any{"marker": marker(owner), "password": enginetest.Secret},
				}
			},
			Effects: func(_ *testing.T, owner string) []string {
				found, _ := filepath.Glob(marker(owner))
				return found
			},
			Alive:   func(*testing.T) []string { return b.alive() },
			Timeout: 10 * time.Second,
			Soon:    time.Minute, // machines that test may be slow
		}
	})
}

// alive lists the processes that have the workspace in their environment, after those that are about to end have had
// a moment. Zygotes are no run's.
func (b *bench) alive() (found []string) {
	for range 50 {
		found = nil
		for _, line := range testkit.Processes(func(environ []byte) bool {
			return bytes.Contains(environ, []byte(b.workspace.Dir())) && !bytes.Contains(environ, []byte(runVariable+"=zygote-"))
		}) {
			found = append(found, strings.ReplaceAll(line, "\x00", " "))
		}
		if len(found) == 0 {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return found
}
