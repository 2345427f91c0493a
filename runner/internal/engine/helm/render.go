package helm

import (
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	templates "helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// rendered is what a chart's templates give for a resource.
type rendered struct {
	manifests []string
	sources   []string // names of the templates that the manifests come from
	hooks     []*release.Hook
	values    chartutil.Values // with the chart's defaults
}

// render runs the chart's templates as for the given revision, and changes nothing in the cluster. lookup sees the
// cluster.
func (r *run) render(revision int) (rendered, error) {
	caps, err := r.e.cfg.Capabilities.get(r.ctx, r.getter)
	if err != nil {
		return rendered{}, err
	}
	options := chartutil.ReleaseOptions{
		Name: r.job.Owner.Name, Namespace: r.namespace, Revision: revision,
	}
	options.IsInstall = r.installs(revision)
	options.IsUpgrade = !options.IsInstall
	return renderChart(r.content.clone(), cloneMap(r.job.Inputs), options, caps, lookups{r.getter})
}

// installs reports whether a revision is that of an install.
func (r *run) installs(revision int) bool {
	if revision == 1 {
		return true
	}
	last := r.store.history.last()
	return last == nil || revision > last.version && (last.status == release.StatusUninstalled || !r.store.history.everDeployed())
}

// renderChart runs the templates of a chart, which is changed by it as the values are. Without a way to look up
// objects there are none.
func renderChart(
	chart *chart.Chart, values map[string]any, options chartutil.ReleaseOptions, caps *chartutil.Capabilities, objects templates.ClientProvider,
) (rendered, error) {
	if err := chartutil.ProcessDependenciesWithMerge(chart, values); err != nil {
		return rendered{}, fmt.Errorf("process the chart's dependencies: %w", err)
	}
	top, err := chartutil.ToRenderValuesWithSchemaValidation(chart, values, options, caps, true)
	if err != nil {
		return rendered{}, fmt.Errorf("put the values together: %w", err)
	}
	run := func() (map[string]string, error) { return templates.Render(chart, top) }
	if objects != nil {
		run = func() (map[string]string, error) { return templates.RenderWithClientProvider(chart, top, objects) }
	}
	files, err := run()
	if err != nil {
		return rendered{}, err
	}
	for name := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			delete(files, name)
		}
	}
	hooks, sorted, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return rendered{}, err
	}
	out := rendered{hooks: hooks}
	out.values, _ = top["Values"].(chartutil.Values)
	for _, manifest := range sorted {
		out.manifests = append(out.manifests, manifest.Content)
		out.sources = append(out.sources, manifest.Name)
	}
	return out, nil
}

// lookups finds objects for a chart's lookup function, with the shared mapper instead of discovery at each call.
type lookups struct {
	getter *getter
}

// GetClientFor implements Helm's ClientProvider.
func (l lookups) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	mapping, err := l.getter.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, false, fmt.Errorf("look up %s: %w", gvk, err)
	}
	client, err := l.getter.DynamicClient()
	if err != nil {
		return nil, false, err
	}
	return client.Resource(mapping.Resource), mapping.Scope.Name() == meta.RESTScopeNameNamespace, nil
}
