package helm

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// configMap makes the ConfigMap that the chart plain would make for a resource.
func (w *world) configMap(resource string, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	w.t.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"message": "before", "mine": "stays"}}}
	obj.SetGroupVersionKind(configMaps)
	obj.SetNamespace(w.namespace)
	obj.SetName(resource + "-config")
	change(obj)
	if err := w.client.Create(w.t.Context(), obj); err != nil {
		w.t.Fatal(err)
	}
	return obj
}

func adopting(c *Config) { c.Adopt = true }

func TestAdoptTakesOverWhatBelongsToNobody(t *testing.T) {
	w := newWorld(t)
	before := w.configMap("one", func(o *unstructured.Unstructured) { setLabel(o, "team", "blue") })
	job := w.job("one", map[string]any{"message": "mine now"})
	result := w.run(w.engine("plain"), job, engine.Transient)
	if result.Reason != engine.ReasonInstallFailed || !strings.Contains(result.Message, "ownership metadata") {
		t.Errorf("without adopt: reason %s, message %q", result.Reason, result.Message)
	}
	e := w.engine("plain", adopting)
	w.did(e, job, engine.ActionInstall)
	after := w.get(configMaps, w.namespace, "one-config")
	data, _, _ := unstructured.NestedStringMap(after.Object, "data")
	if after.GetUID() != before.GetUID() || data["message"] != "mine now" || data["mine"] != "stays" || after.GetLabels()["team"] != "blue" {
		t.Errorf("adopted as %v with labels %v", data, after.GetLabels())
	}
	if !ownedBy(after, job.Owner) || !hasHelmMarks(after, "one", w.namespace) {
		t.Errorf("it has owners %v and annotations %v", after.GetOwnerReferences(), after.GetAnnotations())
	}
	w.did(e, job, engine.ActionNone)
	w.run(e, finalize(job), engine.Changed)
	if w.exists(configMaps, w.namespace, "one-config") {
		t.Error("it did not go with the release")
	}
}

func TestAdoptInAnUpgrade(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain", adopting)
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	extra := w.configMap("one", func(o *unstructured.Unstructured) { o.SetName("one-extra") })
	job.Inputs = map[string]any{"extra": true}
	w.did(e, job, engine.ActionUpgrade)
	if after := w.get(configMaps, w.namespace, "one-extra"); after.GetUID() != extra.GetUID() || !ownedBy(after, job.Owner) {
		t.Errorf("it has owners %v", after.GetOwnerReferences())
	}
}

func TestAdoptLeavesOthersObjectsAlone(t *testing.T) {
	w := newWorld(t)
	other := w.resource("other")
	tests := []struct {
		name, why string
		mark      func(*unstructured.Unstructured)
	}{
		{"controlled", "App other", func(o *unstructured.Unstructured) {
			o.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(other, appKind)})
		}},
		{"released", `release "theirs" in namespace "elsewhere"`, func(o *unstructured.Unstructured) { putHelmMarks(o, "theirs", "elsewhere") }},
		{"primary", "App." + appKind.Group + " elsewhere/other", func(o *unstructured.Unstructured) {
			setAnnotation(o, primaryAnnotation, "elsewhere/other")
			setAnnotation(o, primaryTypeAnnotation, "App."+appKind.Group)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := w.in(t)
			before := w.configMap(test.name, test.mark)
			result := w.run(w.engine("plain", adopting), w.job(test.name, nil), engine.Transient)
			if result.Reason != engine.ReasonInstallFailed || !strings.Contains(result.Message, "belongs to "+test.why) {
				t.Errorf("reason %s, message %q", result.Reason, result.Message)
			}
			after := w.get(configMaps, w.namespace, test.name+"-config")
			if after.GetResourceVersion() != before.GetResourceVersion() {
				t.Error("it was changed")
			}
		})
	}
}
