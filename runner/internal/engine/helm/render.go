package helm

import (
	"fmt"
	"strings"

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
	chart, values := r.content.clone(), cloneMap(r.job.Inputs)
	if err := chartutil.ProcessDependenciesWithMerge(chart, values); err != nil {
		return rendered{}, fmt.Errorf("process the chart's dependencies: %w", err)
	}
	options := chartutil.ReleaseOptions{
		Name: r.job.Owner.Name, Namespace: r.namespace, Revision: revision,
		IsInstall: revision == 1, IsUpgrade: revision > 1,
	}
	top, err := chartutil.ToRenderValuesWithSchemaValidation(chart, values, options, caps, true)
	if err != nil {
		return rendered{}, fmt.Errorf("put the values together: %w", err)
	}
	files, err := templates.RenderWithClientProvider(chart, top, lookups{r.getter})
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
