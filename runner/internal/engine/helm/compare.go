package helm

import (
	"fmt"
	"maps"
	"slices"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
)

// compare tells whether the newest revision, which nobody knows the inputs of, is what the chart gives for the
// resource today. The answer is for plan: the same needs no new revision.
//
// A template that makes something up, like a password, differs each time; where two renderings differ from each
// other, the revision may differ too.
func (r *run) compare() (bool, string, error) {
	last := r.store.history.last()
	rel, err := r.store.load(last.version)
	if err != nil {
		return false, "", err
	}
	if have, want := chartVersion(rel.Chart), r.content.chart.Metadata.Version; have != want {
		return false, fmt.Sprintf("chart version %s instead of %s", want, have), nil
	}
	first, err := r.render(last.version)
	if err != nil {
		return false, "", err
	}
	if last.digest == "" && !r.sameValues(rel, first.values) {
		return false, "the values differ", nil
	}
	stored, err := releaseLeaves(rel)
	if err != nil {
		return false, "", err
	}
	fresh, err := first.leaves(rel.Namespace)
	if err != nil {
		return false, "", err
	}
	different := differences(stored, fresh)
	if len(different) > 0 {
		if err := r.forgiveRandom(different, fresh, last.version, rel.Namespace); err != nil {
			return false, "", err
		}
	}
	if len(different) == 0 {
		return true, "", nil
	}
	return false, "the manifest differs at " + slices.Sorted(maps.Keys(different))[0], nil
}

// forgiveRandom takes those paths from different at which another rendering differs from the first.
func (r *run) forgiveRandom(different map[string]bool, first leaves, version int, namespace string) error {
	second, err := r.render(version)
	if err != nil {
		return err
	}
	again, err := second.leaves(namespace)
	if err != nil {
		return err
	}
	for path := range differences(first, again) {
		delete(different, path)
	}
	return nil
}

// sameValues compares the values of a revision with those of the resource, both with the chart's defaults, since
// helm-operator-plugins stored them so.
func (r *run) sameValues(rel *release.Release, now chartutil.Values) bool {
	old, err := chartutil.CoalesceValues(r.content.clone(), cloneMap(rel.Config))
	if err != nil {
		return false
	}
	before, after := leaves{}, leaves{}
	before.add("", plainValues(old))
	after.add("", plainValues(now))
	return len(differences(before, after)) == 0
}

// plainValues turns Helm's named map type into what it is made of.
func plainValues(values chartutil.Values) map[string]any { return values }

// releaseLeaves reads manifest and hooks of a revision.
func releaseLeaves(rel *release.Release) (leaves, error) {
	out, err := normalise(rel.Manifest, rel.Namespace)
	if err != nil {
		return nil, err
	}
	return out, out.addHooks(rel.Hooks, rel.Namespace)
}

func (d rendered) leaves(namespace string) (leaves, error) {
	out, err := normaliseAll(d.manifests, namespace)
	if err != nil {
		return nil, err
	}
	return out, out.addHooks(d.hooks, namespace)
}

func (l leaves) addHooks(hooks []*release.Hook, namespace string) error {
	for _, hook := range hooks {
		of, err := normalise(hook.Manifest, namespace)
		if err != nil {
			return fmt.Errorf("hook %s: %w", hook.Name, err)
		}
		for path, value := range of {
			l["hook "+path] = value
		}
	}
	return nil
}

func chartVersion(c *chart.Chart) string {
	if c == nil || c.Metadata == nil {
		return ""
	}
	return c.Metadata.Version
}

func chartName(c *chart.Chart) string {
	if c == nil || c.Metadata == nil {
		return ""
	}
	return c.Metadata.Name
}
