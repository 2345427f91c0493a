package runner_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// UP G3: with the operator gone, its finalizers held resources and their namespace for ever.
func TestReleasedResourcesGoWithoutTheOperator(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	chartKind := schema.GroupVersionKind{Group: gvk.Group, Version: "v1", Kind: "Web"}
	config := testkit.Cluster(t)
	testkit.InstallCRD(t, config, gvk)
	testkit.InstallCRD(t, config, chartKind)
	files := map[string]string{"watches.yaml": watchesFor(gvk, finalizerKeys) +
		fmt.Sprintf("- {group: %s, version: v1, kind: Web, chart: DIR/chart}\n- {group: %s, version: v1, kind: Nowhere, chart: DIR/chart}\n", gvk.Group, gvk.Group) +
		fmt.Sprintf("- {group: %s, version: v1, kind: Free, playbook: DIR/play.yml, markUnsafe: true}\n", gvk.Group),
		"play.yml": "", "cleanup.yml": ""}
	maps.Copy(files, chart)
	o := setup(t, config, files)
	with := func(finalizers ...string) func(*unstructured.Unstructured) {
		return func(obj *unstructured.Unstructured) { obj.SetFinalizers(finalizers) }
	}
	ours := "finalizers.example.com/cleanup"
	thing := o.create(gvk, "thing", nil, with(ours))
	shared := o.create(gvk, "shared", nil, with("other.example.com/x", ours))
	o.create(gvk, "free", nil)
	web := o.create(chartKind, "web", nil, with("helm.sdk.operatorframework.io/uninstall-release", "uninstall-helm-release"))
	o.delete(thing)
	o.delete(web)

	options := runner.ReleaseOptions{WatchesFile: filepath.Join(o.dir, "watches.yaml"), RESTConfig: config, Namespaces: []string{o.namespace}}
	got, missing := o.release(options)
	if diff := cmp.Diff([]string{"Thing shared [" + ours + "] [other.example.com/x] false", "Thing thing [" + ours + "] [] true",
		"Web web [helm.sdk.operatorframework.io/uninstall-release uninstall-helm-release] [] true"}, got); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Nowhere." + gvk.Group}, missing); diff != "" {
		t.Errorf("kinds that are not served (-want +got):\n%s", diff)
	}
	o.gone(gvk, "thing")
	o.gone(chartKind, "web")
	left, err := o.get(t.Context(), gvk, "shared")
	if err != nil || !slices.Equal(left.GetFinalizers(), []string{"other.example.com/x"}) {
		t.Errorf("finalizers of others are %v, %v", left.GetFinalizers(), err)
	}
	o.edit(shared, with())
	if got, _ := o.release(options); got != nil {
		t.Errorf("held after all was released: %v", got)
	}
}

func TestReleaseKeepsToKindsAndNamespaces(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	config := testkit.Cluster(t)
	testkit.InstallCRD(t, config, gvk)
	o := setup(t, config, map[string]string{"watches.yaml": watchesFor(gvk, finalizerKeys), "play.yml": "", "cleanup.yml": ""})
	thing := o.create(gvk, "thing", nil, func(obj *unstructured.Unstructured) { obj.SetFinalizers([]string{"finalizers.example.com/cleanup"}) })
	options := runner.ReleaseOptions{WatchesFile: filepath.Join(o.dir, "watches.yaml"), RESTConfig: config}
	options.Namespaces = []string{"default"}
	if got, _ := o.release(options); got != nil {
		t.Errorf("released in another namespace: %v", got)
	}
	options.Namespaces, options.Kinds = nil, []string{"other"}
	if _, err := runner.NewReleaser(options); err == nil || !strings.Contains(err.Error(), "no kind other") {
		t.Errorf("an unknown kind gives %v", err)
	}
	options.Kinds = []string{"Thing." + gvk.Group}
	if got, _ := o.release(options); len(got) != 1 {
		t.Errorf("released in all namespaces: %v", got)
	}
	o.delete(thing)
	o.gone(gvk, "thing")
}

// release releases what is held and describes it.
func (o *operator) release(options runner.ReleaseOptions) (held, missing []string) {
	o.t.Helper()
	releaser, err := runner.NewReleaser(options)
	if err != nil {
		o.t.Fatal(err)
	}
	var all []runner.HeldResource
	missing, err = releaser.Find(o.t.Context(), func(h runner.HeldResource) { all = append(all, h) })
	if err != nil {
		o.t.Fatal(err)
	}
	for _, h := range all {
		held = append(held, fmt.Sprintf("%s %s %v %v %v", h.Kind, h.Name, h.Finalizers, h.Others, h.Deleting))
		if err := releaser.Release(o.t.Context(), h); err != nil {
			o.t.Errorf("release: %v", err)
		}
	}
	slices.Sort(held)
	return held, missing
}
