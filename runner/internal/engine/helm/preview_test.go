package helm

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// preview returns what a run would do, as action and verbs by object, after making sure that it changes nothing.
func (w *world) preview(e *Engine, job engine.Job) (Preview, []string) {
	w.t.Helper()
	before := w.revisions(job.Owner.Name)
	p, err := e.Preview(w.t.Context(), job)
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(before, w.revisions(job.Owner.Name)); diff != "" {
		w.t.Errorf("a preview changes the history (-before +after):\n%s", diff)
	}
	var verbs []string
	for _, change := range p.Objects {
		verbs = append(verbs, change.Verb+" "+change.Child.GVK.Kind+"/"+change.Child.Name)
	}
	return p, verbs
}

func TestPreview(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain")
	job := w.job("one", map[string]any{"message": "first", "extra": true})
	want := func(action string, verbs ...string) Preview {
		t.Helper()
		p, got := w.preview(w.engine("plain"), job)
		if p.Action != action || !slices.Equal(got, verbs) {
			t.Errorf("it would %s %q (%s), want %s %q", p.Action, got, p.Why, action, verbs)
		}
		return p
	}
	want("install", "create ConfigMap/one-config", "create ConfigMap/one-extra", "create Deployment/one", "create Service/one")
	if w.exists(configMaps, w.namespace, "one-config") {
		t.Fatal("a preview has made something")
	}
	w.did(e, job, engine.ActionInstall)
	want("none")
	w.delete(configMaps, w.namespace, "one-extra")
	w.patch(w.get(configMaps, w.namespace, "one-config"), func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, "edited", "data", "message")
	})
	p := want("repair", "put back ConfigMap/one-config", "create ConfigMap/one-extra")
	if len(p.Objects) == 2 && !slices.Contains(p.Objects[0].Fields, "data.message") {
		t.Errorf("the fields are %q", p.Objects[0].Fields)
	}
	w.did(e, verified(job), engine.ActionRepair)

	job.Inputs = map[string]any{"message": "second"}
	p = want("upgrade", "change ConfigMap/one-config", "delete ConfigMap/one-extra")
	if p.Revision != 2 || !strings.Contains(p.Objects[0].Before, "message: first") || !strings.Contains(p.Objects[0].After, "message: second") {
		t.Errorf("revision %d, objects %+v", p.Revision, p.Objects)
	}
	w.stockInstall("plain", "stock", nil)
	job = w.job("stock", nil)
	want("adopt", "put back ConfigMap/stock-config", "put back Service/stock", "put back Deployment/stock") // for the owner
}

func TestPreviewOfWhatIsRefused(t *testing.T) {
	w := newWorld(t)
	if _, err := w.engine("schema").Preview(t.Context(), w.job("one", map[string]any{"replicas": "many"})); err == nil ||
		!strings.HasPrefix(err.Error(), engine.ReasonInvalidValues) || !strings.Contains(err.Error(), "/replicas") {
		t.Errorf("the error is %v", err)
	}
}

// What a Secret holds is in no preview, and yet one sees that it changes.
func TestPreviewHidesSecrets(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "plain")
	writeFile(t, dir+"/templates/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: '{{ .Release.Name }}'}\nstringData: {changes: '{{ .Values.message }}', stays: hunter2-and-more}\n")
	job := w.job("one", map[string]any{"message": "first-secret"})
	w.did(w.engine(dir), job, engine.ActionInstall)
	job.Inputs = map[string]any{"message": "second-secret"}
	p, verbs := w.preview(w.engine(dir), job)
	i := slices.Index(verbs, "change Secret/one")
	if i < 0 {
		t.Fatalf("it would %q", verbs)
	}
	text := p.Objects[i].Before + p.Objects[i].After
	for _, secret := range []string{"first-secret", "second-secret", "hunter2"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is shown:\n%s", secret, text)
		}
	}
	if !strings.Contains(p.Objects[i].After, "changes: '"+hiddenChanged+"'") || !strings.Contains(p.Objects[i].After, "stays: '"+hidden+"'") {
		t.Errorf("after: %s", p.Objects[i].After)
	}
}

// Rendering is what helm template prints, byte for byte.
func TestRenderIsHelmTemplate(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"plain", "umbrella", "hooks", "wide", "conformance", "keep"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := map[string]any{"otherNamespace": "other", "run": map[string]any{"pre-install": "ok", "post-upgrade": "ok"}, "one": map[string]any{"enabled": true}}
			got, err := w.engine(name).Render(t.Context(), w.job(name, values))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(helmTemplate(t, chartDir(name), name, w.namespace, values, w.engine(name)), got); diff != "" {
				t.Errorf("(-helm template +here):\n%s", diff)
			}
			offline, err := Template(chartDir(name), name, w.namespace, values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(helmTemplate(t, chartDir(name), name, w.namespace, values, nil), offline); diff != "" {
				t.Errorf("without a cluster (-helm template +here):\n%s", diff)
			}
		})
	}
}

// helmTemplate does what helm template does, with the capabilities of the engine's cluster or without any.
func helmTemplate(t *testing.T, path, name, namespace string, values map[string]any, e *Engine) string {
	t.Helper()
	c, err := loader.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	act := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	act.DryRun, act.ClientOnly, act.Replace = true, true, true
	act.ReleaseName, act.Namespace = name, namespace
	act.KubeVersion = &offline().KubeVersion
	if e != nil {
		caps, err := e.cfg.Capabilities.get(t.Context(), newGetter(e.cfg.RESTConfig, e.cfg.Mapper))
		if err != nil {
			t.Fatal(err)
		}
		act.KubeVersion, act.APIVersions = &caps.KubeVersion, caps.APIVersions
	}
	rel, err := act.Run(c, values)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSpace(rel.Manifest) + "\n"
	for _, hook := range rel.Hooks {
		text += "---\n# Source: " + hook.Path + "\n" + hook.Manifest + "\n"
	}
	return text
}

func TestHideSecrets(t *testing.T) {
	manifest := "---\n# Source: a.yaml\nkind: ConfigMap\n# a Secret is mentioned\ndata: {a: b}\n---\n# Source: s.yaml\napiVersion: v1\nkind: Secret\ndata: {p: aHVudGVyMg==}\n---\nkind: Other\n"
	want := "---\n# Source: a.yaml\nkind: ConfigMap\n# a Secret is mentioned\ndata: {a: b}\n---\n# Source: s.yaml\napiVersion: v1\ndata:\n  p: '[redacted]'\nkind: Secret\n---\nkind: Other\n"
	if diff := cmp.Diff(want, HideSecrets(manifest)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Helm's library by itself takes a cluster that it does not see for one of v1.20, which charts refuse.
func TestRenderingWithoutAClusterIsForANewOne(t *testing.T) {
	dir := copyChart(t, "plain")
	writeFile(t, dir+"/Chart.yaml", "apiVersion: v2\nname: plain\nversion: 0.1.0\nkubeVersion: '>=1.30.0-0'\n")
	if _, err := Template(dir, "one", "space", nil); err != nil {
		t.Error(err)
	}
}
