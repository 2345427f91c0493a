package helm

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func TestInstallUpgradeUninstall(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	job := w.job("one", map[string]any{"message": "first"})
	events := listen(&job)

	result := w.did(e, job, engine.ActionInstall)
	if len(result.Children) != 3 || result.Release.Version != 1 || !strings.Contains(result.Release.Notes, "first") {
		t.Errorf("install gives %+v and %+v", result.Release, result.Children)
	}
	if len(events()) == 0 {
		t.Errorf("the install told nothing")
	}
	config := w.get(configMaps, w.namespace, "one-config")
	if !ownedBy(config, job.Owner) || config.GetLabels()[chartLabel] != "plain" || config.GetLabels()[managedByLabel] != "Helm" {
		t.Errorf("the ConfigMap is not marked: %v %v", config.GetOwnerReferences(), config.GetLabels())
	}
	if !slices.ContainsFunc(result.Writes, func(w engine.Write) bool { return w.UID == config.GetUID() }) {
		t.Errorf("the ConfigMap is not among the writes %+v", result.Writes)
	}
	if !ownedBy(w.record("one", 1), job.Owner) {
		t.Errorf("the release record has no owner")
	}

	job.Inputs = map[string]any{"message": "second", "extra": true}
	result = w.did(e, job, engine.ActionUpgrade)
	if result.Release.Version != 2 || len(result.Children) != 4 {
		t.Errorf("upgrade gives %+v and %+v", result.Release, result.Children)
	}
	if !ownedBy(w.record("one", 1), job.Owner) || !ownedBy(w.record("one", 2), job.Owner) {
		t.Errorf("a release record has lost its owner")
	}
	job.Inputs = map[string]any{"message": "first"}
	w.did(e, job, engine.ActionUpgrade)
	if w.exists(configMaps, w.namespace, "one-extra") {
		t.Errorf("what the chart no longer asks for is still there")
	}
	if diff := cmp.Diff([]string{"superseded", "superseded", "deployed"}, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}

	w.run(e, finalize(job), engine.Changed)
	if w.exists(configMaps, w.namespace, "one-config") || w.revisions("one") != nil {
		t.Errorf("something is left after the uninstall: %v", w.revisions("one"))
	}
	w.run(e, finalize(job), engine.Succeeded)
}

// A helm-operator with these values would have kept the old ones.
func TestEmptyValuesResetOldOnes(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	w.did(e, w.job("one", map[string]any{"message": "mine"}), engine.ActionInstall)
	w.did(e, w.job("one", map[string]any{}), engine.ActionUpgrade)
	if got := w.get(configMaps, w.namespace, "one-config").Object["data"].(map[string]any)["message"]; got != "hello" {
		t.Errorf("message is %q, want the chart's default", got)
	}
}

func TestNothingToDoAsksNothing(t *testing.T) {
	w := newWorld(t)
	for _, chart := range []string{"plain", "random", "lookup", "umbrella"} {
		t.Run(chart, func(t *testing.T) {
			w := w.in(t)
			e := w.engine(chart)
			job := w.job(chart, nil)
			installed := w.did(e, job, engine.ActionInstall)
			for range 10 {
				result := w.did(e, job, engine.ActionNone)
				if result.APIRequests != 0 || result.Release.Digest != installed.Release.Digest {
					t.Fatalf("%d requests, release %+v", result.APIRequests, result.Release)
				}
				if diff := cmp.Diff(installed.Children, result.Children); diff != "" {
					t.Fatalf("children (-installed +now):\n%s", diff)
				}
			}
			restarted := w.engine(chart)
			result := w.did(restarted, job, engine.ActionNone)
			if len(result.Writes) != 0 || len(result.Children) != len(installed.Children) {
				t.Errorf("after a restart: %d writes, children %v", len(result.Writes), result.Children)
			}
			t.Logf("%s: install %d requests, after a restart %d", chart, installed.APIRequests, result.APIRequests)
			if got := w.did(restarted, job, engine.ActionNone).APIRequests; got != 0 {
				t.Errorf("the second run after a restart takes %d requests", got)
			}
			if got := w.revisions(chart); len(got) != 1 {
				t.Errorf("revisions are %v", got)
			}
		})
	}
}

// What is decided on are the inputs, also where no object shows a difference.
func TestValuesAndNotesOnlyAreChanges(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "plain")
	e := w.engine(dir)
	e.charts.clock = &steppingClock{now: time.Now()}
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	job.Inputs = map[string]any{"unused": "value"}
	w.did(e, job, engine.ActionUpgrade)
	if values, err := action.NewGetValues(w.stock()).Run("one"); err != nil || values["unused"] != "value" {
		t.Errorf("helm get values says %v, %v", values, err)
	}
	writeFile(t, dir+"/templates/NOTES.txt", "other words")
	if result := w.did(e, job, engine.ActionUpgrade); result.Release.Notes != "other words" {
		t.Errorf("notes are %q", result.Release.Notes)
	}
	for range 3 {
		w.did(e, verified(job), engine.ActionNone)
	}
	if diff := cmp.Diff([]string{"superseded", "superseded", "deployed"}, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// Documents in another order, and what was only formatted, are the same objects: no revision after a take-over.
func TestShuffledDocumentsAreTheSame(t *testing.T) {
	w := newWorld(t)
	w.stockInstall("plain", "one", nil)
	dir := copyChart(t, "plain")
	for _, name := range []string{"configmap.yaml", "service.yaml"} {
		text, err := os.ReadFile(dir + "/templates/" + name)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, dir+"/templates/z"+name, "---\n# moved\n---\n"+string(text)+"\n---\n")
		if err := os.Remove(dir + "/templates/" + name); err != nil {
			t.Fatal(err)
		}
	}
	w.run(w.engine(dir), w.job("one", nil), engine.Changed) // the owner
	if got := w.revisions("one"); len(got) != 1 {
		t.Errorf("revisions are %v", got)
	}
}
