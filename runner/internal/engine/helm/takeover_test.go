package helm

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// uids returns the identities of a release's objects, to see that none was made anew.
func (w *world) uids(children []engine.Child) map[string]types.UID {
	w.t.Helper()
	out := map[string]types.UID{}
	for _, child := range children {
		out[child.GVK.Kind+"/"+child.Name] = w.get(child.GVK, child.Namespace, child.Name).GetUID()
	}
	return out
}

func TestTakeOverFromStockHelm(t *testing.T) {
	w := newWorld(t)
	for _, chart := range []string{"plain", "random", "lookup", "umbrella"} {
		t.Run(chart, func(t *testing.T) {
			w := w.in(t)
			rel := w.stockInstall(chart, chart, map[string]any{"message": "mine", "replicas": 2})
			job := w.job(chart, map[string]any{"message": "mine", "replicas": int64(2)})
			e := w.engine(chart)
			result := w.run(e, job, engine.Changed) // the objects get their owner
			if result.Release.Version != 1 || result.Release.Action != engine.ActionRepair {
				t.Fatalf("taken over by %+v", result.Release)
			}
			for _, child := range result.Children {
				if !ownedBy(w.get(child.GVK, child.Namespace, child.Name), job.Owner) {
					t.Errorf("%s/%s has no owner", child.GVK.Kind, child.Name)
				}
			}
			if !ownedBy(w.record(chart, 1), job.Owner) {
				t.Error("the record has no owner")
			}
			stored, err := w.stock().Releases.Get(chart, 1)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(rel.Manifest, stored.Manifest); diff != "" {
				t.Errorf("the stored manifest was changed:\n%s", diff)
			}
			w.did(e, job, engine.ActionNone)
			w.did(w.engine(chart), verified(job), engine.ActionNone)
			if got := w.revisions(chart); len(got) != 1 {
				t.Errorf("revisions are %v", got)
			}
		})
	}
}

func TestTakeOverWithOtherValuesIsOneUpgrade(t *testing.T) {
	w := newWorld(t)
	w.stockInstall("plain", "one", map[string]any{"message": "old"})
	e := w.engine("plain")
	job := w.job("one", map[string]any{"message": "new"})
	w.did(e, job, engine.ActionUpgrade)
	w.did(e, job, engine.ActionNone)
}

// asOperatorSDK makes a release as the Operator SDK's helm-operator leaves it: stored as rendered, values as
// strings where they came from overrides, objects and record marked, history of one.
func (w *world) asOperatorSDK(job engine.Job, values map[string]any) engine.Result {
	w.t.Helper()
	result := w.did(w.engine("plain"), job, engine.ActionInstall)
	w.rewrite(job.Owner.Name, func(rel *release.Release) { rel.Config = values }, job.Owner)
	return result
}

// rewrite changes a release record and takes our labels off it.
func (w *world) rewrite(name string, change func(*release.Release), owner engine.Owner) {
	w.t.Helper()
	cfg := w.stock()
	rel, err := cfg.Releases.Get(name, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	rel.Labels = nil
	change(rel)
	if err := cfg.Releases.Update(rel); err != nil {
		w.t.Fatal(err)
	}
	secret := w.record(name, 1)
	secret.OwnerReferences = withOwner(nil, owner)
	if err := w.client.Update(w.t.Context(), secret); err != nil {
		w.t.Fatal(err)
	}
}

func TestTakeOverFromOperatorSDK(t *testing.T) {
	w := newWorld(t)
	job := w.job("one", map[string]any{"replicas": int64(2), "extra": true})
	before := w.asOperatorSDK(job, map[string]any{"replicas": "2", "extra": "true"})
	uids := w.uids(before.Children)
	e := w.engine("plain")
	result := w.did(e, job, engine.ActionNone)
	for _, write := range result.Writes {
		if write.Name != secretName("one", 1) {
			t.Errorf("the take-over changed %+v", write)
		}
	}
	if diff := cmp.Diff(uids, w.uids(result.Children)); diff != "" {
		t.Errorf("objects (-before +after):\n%s", diff)
	}
	w.did(w.engine("plain"), job, engine.ActionNone)
	w.did(e, verified(job), engine.ActionNone)
}

// helm-operator-plugins stores the manifest with namespaces and owners, its fields in another order, and the
// values with all of the chart's defaults.
func TestTakeOverFromHelmOperatorPlugins(t *testing.T) {
	w := newWorld(t)
	job := w.job("one", map[string]any{"replicas": int64(2)})
	before := w.did(w.engine("plain"), job, engine.ActionInstall)
	uids := w.uids(before.Children)
	w.rewrite("one", func(rel *release.Release) {
		rel.Manifest = w.postRendered(rel.Manifest, job.Owner)
		all, err := chartutil.CoalesceValues(rel.Chart, rel.Config)
		if err != nil {
			t.Fatal(err)
		}
		rel.Config = all
	}, job.Owner)
	for _, child := range before.Children { // they put no label on objects
		w.patch(w.get(child.GVK, child.Namespace, child.Name), func(o *unstructured.Unstructured) {
			labels := o.GetLabels()
			delete(labels, chartLabel)
			o.SetLabels(labels)
		})
	}
	e := w.engine("plain")
	result := w.run(e, job, engine.Changed) // the label
	if result.Release.Action != engine.ActionRepair || result.Release.Version != 1 {
		t.Errorf("taken over by %+v", result.Release)
	}
	if diff := cmp.Diff(uids, w.uids(result.Children)); diff != "" {
		t.Errorf("objects (-before +after):\n%s", diff)
	}
	w.did(e, verified(job), engine.ActionNone)
	job.Inputs = map[string]any{"replicas": int64(3)}
	w.did(e, job, engine.ActionUpgrade)
	w.did(e, verified(job), engine.ActionNone)
}

func (w *world) postRendered(manifest string, owner engine.Owner) string {
	w.t.Helper()
	objects := ""
	for _, text := range splitDocuments(manifest) {
		obj := &unstructured.Unstructured{}
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			w.t.Fatal(err)
		}
		if err := obj.UnmarshalJSON(data); err != nil {
			w.t.Fatal(err)
		}
		obj.SetNamespace(w.namespace)
		obj.SetOwnerReferences(withOwner(nil, owner))
		out, err := json.Marshal(obj.Object)
		if err != nil {
			w.t.Fatal(err)
		}
		if out, err = yaml.JSONToYAML(out); err != nil {
			w.t.Fatal(err)
		}
		objects = "---\n" + string(out) + objects
	}
	return objects
}

func TestForeignReleasesAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.stockInstall("keep", "one", nil)
	e := w.engine("plain")
	job := w.job("one", nil)
	result := w.run(e, job, engine.Permanent)
	if result.Reason != engine.ReasonReleaseTaken || len(result.Writes) != 0 {
		t.Errorf("reason %s, message %q, writes %+v", result.Reason, result.Message, result.Writes)
	}
	t.Log(result.Message)
	w.run(e, finalize(job), engine.Succeeded)
	if w.revisions("one") == nil {
		t.Error("another's release was uninstalled")
	}

	mine := w.job("two", nil)
	w.did(e, mine, engine.ActionInstall)
	other := mine // the same chart for another kind of resource
	other.Owner.Kind, other.Owner.UID = "Other", "11111111-2222-3333-4444-555555555555"
	result = w.run(w.engine("plain"), other, engine.Permanent)
	if result.Reason != engine.ReasonReleaseTaken {
		t.Errorf("reason %s, message %q", result.Reason, result.Message)
	}
	t.Log(result.Message)
	w.run(w.engine("plain"), finalize(other), engine.Succeeded)
	if w.revisions("two") == nil {
		t.Error("another's release was uninstalled")
	}
}

func TestOtherToolsChangesAreNoticed(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	job := w.job("one", map[string]any{"message": "mine"})
	w.did(e, job, engine.ActionInstall)

	upgrade := action.NewUpgrade(w.stock())
	upgrade.Namespace = w.namespace
	rel, err := w.stock().Releases.Get("one", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := upgrade.Run("one", rel.Chart, map[string]any{"message": "theirs"}); err != nil {
		t.Fatal(err)
	}
	w.did(e, verified(job), engine.ActionUpgrade)
	rollback := action.NewRollback(w.stock())
	rollback.Version = 2
	if err := rollback.Run("one"); err != nil {
		t.Fatal(err)
	}
	w.did(w.engine("plain"), job, engine.ActionUpgrade)
	if got := w.get(configMaps, w.namespace, "one-config").Object["data"].(map[string]any)["message"]; got != "mine" {
		t.Errorf("message is %v", got)
	}
	uninstall := action.NewUninstall(w.stock())
	uninstall.KeepHistory = true
	if _, err := uninstall.Run("one"); err != nil {
		t.Fatal(err)
	}
	w.did(e, verified(job), engine.ActionInstall)
	w.run(e, finalize(job), engine.Changed)
	if w.revisions("one") != nil {
		t.Error("the history is left")
	}
}

func TestInterruptedActionsAreUnlocked(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		why     string
		left    release.Status
		upgrade bool
		want    engine.Action
		history []string
	}{
		{"killed in the first install", release.StatusPendingInstall, false, engine.ActionInstall, []string{"failed", "deployed"}},
		{"killed in an upgrade", release.StatusPendingUpgrade, true, engine.ActionUpgrade, []string{"superseded", "failed", "deployed"}},
		{"killed in a rollback by hand", release.StatusPendingRollback, true, engine.ActionUpgrade, []string{"superseded", "failed", "deployed"}},
		{"killed in an uninstall", release.StatusUninstalling, true, engine.ActionInstall, []string{"superseded", "superseded", "deployed"}},
		{"a status that nobody knows", release.StatusUnknown, true, engine.ActionUpgrade, []string{"superseded", "unknown", "deployed"}},
	}
	for i, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			w, name := w.in(t), string(rune('a'+i))
			e := w.engine("plain")
			job := w.job(name, map[string]any{"message": "first"})
			w.did(e, job, engine.ActionInstall)
			last := 1
			if test.upgrade {
				job.Inputs = map[string]any{"message": "second"}
				w.did(e, job, engine.ActionUpgrade)
				w.setStatus(name, 1, release.StatusDeployed)
				last = 2
			}
			w.setStatus(name, last, test.left)
			e = w.engine("plain") // the new process
			w.did(e, job, test.want)
			if diff := cmp.Diff(test.history, w.revisions(name)); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			w.did(e, job, engine.ActionNone)
			w.run(e, finalize(job), engine.Changed)
			if w.revisions(name) != nil {
				t.Error("the history is left")
			}
		})
	}
}

func TestSomeoneElsesPendingReleaseIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.stockInstall("plain", "one", nil)
	w.setStatus("one", 1, release.StatusPendingUpgrade)
	result := w.run(w.engine("plain"), w.job("one", nil), engine.Waiting)
	if result.Reason != engine.ReasonReleaseBusy || result.RetryAfter == 0 || len(result.Writes) != 0 {
		t.Errorf("reason %s, message %q, retry after %s", result.Reason, result.Message, result.RetryAfter)
	}
	later := w.engine("plain", func(c *Config) { c.Clock = fixedClock{time.Now().Add(busyFor + time.Minute)} })
	w.run(later, w.job("one", nil), engine.Changed)
}

// Helm upgrades a custom resource by comparing two manifests, both of which name the owner; the live one does not.
func TestTakeOverByUpgradeGivesCustomResourcesTheirOwner(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "plain")
	writeFile(t, dir+"/templates/app.yaml", `
apiVersion: `+appKind.Group+`/v1
kind: App
metadata: {name: {{ .Release.Name }}-child}
spec: {message: {{ .Values.message }}}
`)
	act := action.NewInstall(w.stock())
	act.ReleaseName, act.Namespace = "one", w.namespace
	c, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := act.Run(c, map[string]any{"message": "old"}); err != nil {
		t.Fatal(err)
	}
	job := w.job("one", map[string]any{"message": "new"})
	w.did(w.engine(dir), job, engine.ActionUpgrade)
	if child := w.get(appKind, w.namespace, "one-child"); !ownedBy(child, job.Owner) {
		t.Errorf("the custom resource has owners %v", child.GetOwnerReferences())
	}
}
