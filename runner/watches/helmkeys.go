package watches

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/util/validation"
)

func readCRDs(e *entry, n *yaml.Node, key string) {
	value, ok := e.textValue(n, key)
	switch crds := CRDs(value); crds {
	case "":
	case CRDsSkip, CRDsCreate, CRDsReplace:
		e.watch.CRDs = crds
	default:
		if ok {
			e.failf(n, key, "write Skip, Create or Replace", "%s: there is no policy %q", key, value)
		}
	}
}

// readReleaseNamespace reads the namespace of releases. A release cannot move, so what the template puts in must not
// change either.
func (e *entry) readReleaseNamespace(n *yaml.Node, key string) Template {
	t := e.templateValue(n, key)
	switch {
	case !t.fixed():
		e.failf(n, key, "make it of .metadata.name or .metadata.namespace", "%s: a release cannot move when another field changes", key)
	case t.Literal() && !t.IsZero() && len(validation.IsDNS1123Label(t.String())) > 0:
		e.failf(n, key, "", "%s: %q cannot be a namespace", key, t.String())
	}
	return t
}

// registryScheme is how the chart of a registry begins.
const registryScheme = "oci://"

// chartReference matches a chart of a registry that is named by digest.
var chartReference = regexp.MustCompile(`^oci://[^/@\s]+/[^@\s]+@sha256:[0-9a-f]{64}$`)

// checkChartReference checks that the chart of a registry is named by digest: a tag may be another chart tomorrow.
func (d *decoder) checkChartReference(n *yaml.Node, key, value string) {
	switch {
	case chartReference.MatchString(value):
	case !strings.Contains(value, "@"):
		d.failf(n, key, "add @sha256:... (helm pull prints it)", "%s %s has no digest, and a tag can be moved to another chart", key, value)
	default:
		d.failf(n, key, "write it like oci://registry.example.com/charts/web@sha256:<digest>", "%s %s names no chart", key, value)
	}
}

// InRegistry reports whether the chart is one of a registry and not a file.
func (w Watch) InRegistry() bool { return strings.HasPrefix(w.Chart, registryScheme) }

// readPullSecret reads the Secret that a chart's registry wants.
func readPullSecret(e *entry, n *yaml.Node, key string) {
	if null(n) {
		return
	}
	secret := &ObjectName{}
	failures := e.errors.count()
	e.eachField(n, key, []string{"name", "namespace"}, func(name string, value *yaml.Node, path string) {
		place := map[string]*string{"name": &secret.Name, "namespace": &secret.Namespace}
		*place[name] = e.literalValue(value, path)
	})
	if e.errors.count() == failures && secret.Name == "" {
		e.failf(n, key+".name", "add it", "%s has no name", key)
	}
	e.watch.ChartPullSecret = secret
}
