package helm

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/chartutil"
)

// text writes what was rendered as `helm template` does: manifests in the order of their installation, then hooks.
func (d rendered) text() string {
	var out strings.Builder
	out.WriteString(strings.TrimSpace(d.manifest()))
	out.WriteString("\n")
	for _, hook := range d.hooks {
		fmt.Fprintf(&out, "---\n# Source: %s\n%s\n", hook.Path, hook.Manifest)
	}
	return out.String()
}

// manifest writes the manifests as a release has them.
func (d rendered) manifest() string {
	var out strings.Builder
	for i, content := range d.manifests {
		fmt.Fprintf(&out, "---\n# Source: %s\n%s\n", d.sources[i], content)
	}
	return out.String()
}

// latestKubernetes is the version that is taken for a cluster's where there is none, if the build does not tell.
const latestKubernetes = "1.37.0"

// offline are the capabilities where there is no cluster: the kinds that Helm takes for granted, and the version of
// Kubernetes whose client this is. Helm's command does the same; its library by itself claims to be v1.20.
var offline = sync.OnceValue(func() *chartutil.Capabilities {
	caps := chartutil.DefaultCapabilities.Copy()
	number := latestKubernetes
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if rest, ok := strings.CutPrefix(module.Version, "v0."); ok && module.Path == "k8s.io/client-go" {
				number = "1." + rest
			}
		}
	}
	if version, err := chartutil.ParseKubeVersion(number); err == nil {
		caps.KubeVersion = *version
	}
	return caps
})

// Template renders a chart without a cluster, as `helm template` does: lookup finds nothing, and the capabilities are
// those that Helm takes for granted.
func Template(path, name, namespace string, values map[string]any) (string, error) {
	content, err := loadChart(path)
	if err != nil {
		return "", err
	}
	c := content.clone()
	if err := checkValues(c, cloneMap(values)); err != nil {
		return "", err
	}
	if missing := missingDependencies(c); len(missing) > 0 {
		return "", fmt.Errorf("chart %s needs %s, which is missing from its charts directory: %w", c.Name(), strings.Join(missing, ", "), errIncomplete)
	}
	options := chartutil.ReleaseOptions{Name: name, Namespace: namespace, Revision: 1, IsInstall: true}
	out, err := renderChart(content.clone(), cloneMap(values), options, offline().Copy(), nil)
	if err != nil {
		return "", err
	}
	return out.text(), nil
}
